/** The styles of the views that are loaded when they are first shown; most colours are those of `theme.ts`. */
export const viewCss: string = `
.collapsed .panel{container-type:normal;height:auto;bottom:auto}
.collapsed.bottom .panel{bottom:0}
.collapsed .view,.collapsed .resizer{display:none}
.resizer{position:fixed;touch-action:none;z-index:1}
.resizer:hover,.resizer:focus-visible{background:var(--accent);outline:none}
.right .resizer,.left .resizer{top:0;bottom:0;width:6px;cursor:ew-resize}
.right .resizer{right:calc(var(--size) - 3px)}
.left .resizer{left:calc(var(--size) - 3px)}
.top .resizer,.bottom .resizer{left:0;right:0;height:6px;cursor:ns-resize}
.top .resizer{top:calc(var(--size) - 3px)}
.bottom .resizer{bottom:calc(var(--size) - 3px)}
.view .bar{flex-wrap:wrap}
.bar span.grow{flex-basis:100px}
.bar h2{flex:1 1 180px}
.bar label{white-space:nowrap}
.items{position:absolute;right:0;top:100%;z-index:2;max-height:calc(100cqh - 76px);overflow:auto;display:grid;gap:4px;padding:6px;min-width:150px;
background:var(--ground);border:1px solid var(--edge);border-radius:6px;box-shadow:0 4px 16px rgb(0 0 0/.2)}
.items *{display:block;font-size:11px}
.items .muted{padding:2px 8px}
.items .warn{white-space:normal;max-width:180px}
.items button{width:100%;font-size:12px;border-color:transparent;text-align:left;white-space:nowrap}
.items [aria-disabled=true]{color:var(--muted);cursor:default}
.items [aria-checked]::before{content:"";display:inline-block;width:1.2em}
.items [aria-checked=true]::before{content:"✓"}
.warn{color:var(--warn)}
.facts,.text,.inset,.turn,.form{padding:6px 10px}
.facts div{display:flex;gap:8px}
dt{color:var(--muted);flex:0 0 min(30%,140px)}
dd{min-width:0}
dd,.text,.turn,.fragment{overflow-wrap:anywhere}
label{display:inline-flex;align-items:center;gap:4px;min-width:0;max-width:100%}
[type=checkbox]{min-height:0;cursor:pointer}
[type=search]{min-width:70px}
[type=number]{width:64px}
select{min-width:0;max-width:200px}
.end,.inset select,.end select,.whole{flex:1 1 200px;max-width:100%}
ol,ul{list-style:none;padding:0}
.naming{min-height:18px;padding:0 4px;width:132px}
.columns{display:flex;justify-content:flex-end;gap:6px;padding:2px 8px;overflow:hidden;border-bottom:1px solid var(--line);flex:none}
.columns,.columns+.graph{scrollbar-gutter:stable}
.cell{flex:none;width:60px;overflow:hidden;text-overflow:ellipsis;text-align:right}
.cell.model{width:96px}
@container (max-width:519px){.cell,.cell.model{width:50px}}
.cell,.columns,.share,.role,.figures,.legend,.origin,.gist,.field,legend,thead,.unchanged{color:var(--muted);font-size:11px}
.meter{display:flex;height:8px;margin:6px 0 4px;border:1px solid var(--edge);border-radius:4px;overflow:hidden}
.key-system{background:var(--accent)}
.key-history{background:var(--branch-1)}
.key-tools{background:var(--branch-3)}
.key-reserve{background:var(--branch-6)}
.share{margin-left:8px;white-space:nowrap;font-weight:400}
.chip{display:inline-block;margin:0 1px;padding:0 4px;border:1px solid;border-radius:3px;line-height:14px;color:var(--warn)}
.scroll{flex:1;min-height:0;overflow:auto;overscroll-behavior:contain}
section+section{border-top:1px solid var(--line)}
.scroll h2{padding:8px 10px 4px}
h2 *{font-weight:400}
.text{white-space:pre-wrap}
.turn .text{padding:2px 0}
a{color:var(--accent);display:block}
.turn{border-bottom:1px solid var(--line)}
.role{display:flex;justify-content:space-between;align-items:baseline;font-weight:600}
.part{margin:4px 0 0;padding:4px 6px;background:var(--raised);border-radius:4px}
.side{display:flex;gap:6px}
.side>.muted{flex:0 0 42px}
.side>.text{flex:1;min-width:0}
.output-error,.output-denied{color:var(--alert)}
.approval-requested{color:var(--warn)}
img{display:block;max-width:100%;max-height:180px}
.more{padding:4px 10px;border-bottom:1px solid var(--line)}
.more .facts{padding:2px 0}
.sides{display:flex;gap:20px}
.sides>*{flex:1;min-width:0}
.beside .alone{width:50%}
.beside .b{margin-left:50%}
ins{background:var(--cursor)}
del{color:var(--alert)}
.unchanged{display:block;margin:4px 0}
.tree .row{gap:0}
.twisty{width:14px;flex:none;text-align:center;color:var(--muted)}
.value{overflow:hidden;text-overflow:ellipsis;white-space:pre;min-width:20%;flex-shrink:99}
.string{color:var(--branch-2)}
.number{color:var(--branch-1)}
.literal{color:var(--branch-3)}
.group{color:var(--muted)}
.switch{display:flex;gap:2px}
.fragment{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 8px;width:100%;border-color:transparent;background:none;text-align:left}
.name{font-weight:500}
.origin{overflow:hidden;text-overflow:ellipsis}
.piece{cursor:pointer}
.piece:hover{background:var(--raised)}
[aria-pressed=true],[aria-pressed=true]:hover{background:var(--cursor);box-shadow:inset 0 0 0 1px var(--accent)}
.legend{display:flex;flex-wrap:wrap;gap:2px 12px}
.legend span span{display:inline-block;width:10px;height:10px;border:1px solid var(--edge)}
table{border-collapse:collapse}
th,td{padding:2px 12px 2px 0;text-align:left;font-weight:400;overflow-wrap:anywhere}
.sums{margin:4px 10px}
.sums td,.sums th+th{text-align:right;white-space:nowrap}
summary{cursor:pointer;min-height:24px}
.cache p,.warning p{margin:4px 0}
.form,.field{display:flex;flex-direction:column;gap:6px}
.form .bar{padding:4px 0;background:none;border:0}
.field{align-items:stretch}
fieldset{margin:0;padding:2px 8px 6px;border:1px solid var(--line);border-radius:4px;display:flex;flex-wrap:wrap;gap:2px 14px}
.gist{max-width:160px}
textarea{color:var(--text);width:100%}
button:disabled,fieldset:disabled{color:var(--muted);cursor:default;opacity:.7}
.primary,.primary:hover{background:var(--accent);color:var(--on-accent);border-color:var(--accent)}
.warning{border:1px solid var(--warn);border-radius:6px;padding:8px 10px}
.warning h2{padding:0}
.wide{overflow-x:auto}
.wide td{white-space:nowrap}
.wide .why{white-space:normal;min-width:140px}
.formats{display:flex;flex-wrap:wrap;align-content:flex-start}
.formats section{flex:1 1 200px;min-width:0;border-top:1px solid var(--line)}
.line{padding:0 8px}
.line .mark{display:block;max-width:45%}
.kind{color:var(--accent)}
.failed .kind{color:inherit}
.detail{max-height:30%;overflow:auto;border-top:1px solid var(--line);flex:none}
.two{flex:1;min-height:0;display:flex}
.two>*{flex:2 1 0;min-width:0;min-height:0}
.past{flex-grow:3;display:flex;flex-direction:column;border-left:1px solid var(--line)}
.aside-of{display:flex;min-width:0;align-items:center;gap:6px;margin-left:auto;padding-left:12px;font-family:system-ui,sans-serif}
.aside-of .mark{flex:none}
.bad{color:var(--alert);border-color:var(--alert)}
@container (max-width:640px){
.two{flex-direction:column}
.past{border-left:0;border-top:1px solid var(--line)}
}
`;
