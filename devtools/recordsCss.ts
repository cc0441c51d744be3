/** The styles of the views Log, Storage, Fragments, Checkpoints and Snapshot. */
export const recordsCss: string = `
.wrap>span.grow{min-width:max-content}
.wrap>span.grow[role=status]{min-width:0;flex-basis:200px}
.wrap [type=range]{flex:1 1 140px}
h2 button{font-weight:400}
.scroll h2:last-child{padding-bottom:8px}
.line .mark{display:block;max-width:45%}
.line{padding:0 8px}
.line .kind{color:var(--accent)}
.line.failed .kind,.line.failed .preview{color:var(--alert)}
.detail{max-height:30%;overflow:auto;border-top:1px solid var(--line);flex:none}
.words.grow{flex:1}
.two{flex:1;min-height:0;display:grid;grid-template:minmax(0,1fr)/minmax(0,2fr) minmax(0,3fr)}
.two>.rows{height:100%}
.past{display:flex;flex-direction:column;min-height:0;border-left:1px solid var(--line)}
.past .note{border-top:0;border-bottom:1px solid var(--line)}
.facts.bare{border:0}
.facts.bare dt{flex-basis:140px}
.inset p{margin:0 0 4px}
.sum{font-variant-numeric:tabular-nums}
.sums{margin:4px 10px 10px}
.sums th,.sums td{text-align:right}
.sums td{white-space:nowrap}
.sums th:first-child{text-align:left}
.findings{margin:0 10px 10px;padding:0;list-style:none}
.findings li{padding:4px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.aside-of{display:flex;min-width:0;white-space:nowrap;align-items:center;gap:6px;margin-left:auto;padding-left:12px;font:12px/1.45 system-ui,sans-serif}
.aside-of .mark{flex:none}
.aside-of .problem{color:var(--alert);min-width:0;overflow:hidden;text-overflow:ellipsis}
.value:has(+.aside-of){min-width:20%;flex-shrink:99}
@container (max-width:640px){
.two{grid-template:minmax(0,2fr) minmax(0,3fr)/minmax(0,1fr)}
.past{border-left:0;border-top:1px solid var(--line)}
}
`;
