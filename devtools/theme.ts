/**
 * How the panel looks: one table of colours, light and dark side by side, and the rules that use them.
 * Nothing else in this folder names a colour. Text on its ground has a contrast of at least 4.5:1, lanes of 3:1.
 */
export const panelCss: string = `
.root{
--ground:light-dark(#fff,#111);
--raised:light-dark(#f5f6f8,#222);
--line:light-dark(#dde,#334);
--edge:light-dark(#889,#778);
--text:light-dark(#112,#eee);
--muted:light-dark(#566,#aab);
--cursor:light-dark(#e4efe9,#243);
--accent:light-dark(#265,#8ca);
--on-accent:light-dark(#fff,#121);
--alert:light-dark(#a11,#f99);
--warn:light-dark(#850,#eb6);
--branch-0:light-dark(#15c,#8af);
--branch-1:light-dark(#b40,#f96);
--branch-2:light-dark(#174,#6c9);
--branch-3:light-dark(#83b,#c9e);
--branch-4:light-dark(#a25,#f8b);
--branch-5:light-dark(#078,#6cd);
--branch-6:light-dark(#760,#db5);
--branch-7:light-dark(#556,#bbc);
}

*,::before,::after{box-sizing:border-box}
.root{direction:ltr;font:12px/1.45 system-ui,sans-serif;color:var(--text)}
.root.embedded{height:100%;min-height:240px;max-height:100vh;display:flex}
.panel{container-type:size;display:flex;flex-direction:column;min-width:0;background:var(--ground);border:1px solid var(--line);overflow:hidden}
.embedded .panel{flex:1}
.floating .panel{position:fixed;inset:0;box-shadow:0 0 24px rgb(0 0 0/.18)}
.right .panel{left:auto;width:var(--size)}
.left .panel{right:auto;width:var(--size)}
.bottom .panel{top:auto;height:var(--size)}
.top .panel{bottom:auto;height:var(--size)}
.root.own{max-height:none}
.own .panel{border:0}
.bar{display:flex;align-items:center;gap:6px;min-height:34px;padding:4px 8px;background:var(--raised);flex:none;border-bottom:1px solid var(--line)}
footer.bar{border-top:1px solid var(--line);border-bottom:0;color:var(--muted)}
.view,.list,.node{flex:1;min-height:0;display:flex;flex-direction:column}

button,select,input,textarea{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--edge);border-radius:4px;
padding:2px 8px;min-height:24px;margin:0}
button,select,summary,.graph .row,.piece{cursor:pointer}
button:hover,select:hover{background:var(--raised)}
:focus-visible{outline:2px solid var(--accent);outline-offset:-2px}
[role=tab],.icon,.quiet{border-color:transparent;background:none}
.tabs{display:flex;gap:2px;flex:1;min-width:0;overflow-x:auto;scrollbar-width:none;overscroll-behavior:contain}
[role=tab]{flex:none;color:var(--muted)}
[role=tab][aria-selected=true]{background:var(--ground);border-color:var(--line);color:var(--text);-webkit-text-stroke:.4px}
.icon{width:28px;padding:0;font-size:16px;line-height:1}
.menu{position:relative}
.quiet{color:var(--accent);padding:0 4px;text-align:left}
.views{display:contents}
.grow{flex:1;min-width:0}
.muted{color:var(--muted)}
p,h2,ol,ul,dl,dd,pre{margin:0}
.words{padding:24px;color:var(--muted);text-align:center}
.alert{display:flex;justify-content:space-between;gap:6px;padding:6px 10px;color:var(--alert);border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.close::before{content:"×"}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
h2{font-size:12px;font-weight:600}
code,pre,.code{font:11px/1.5 ui-monospace,monospace}
.rows{flex:1;min-height:0;overflow:auto;overscroll-behavior:contain;position:relative}
.row{position:absolute;left:0;right:0;display:flex;align-items:center;gap:6px;
padding-right:8px;white-space:nowrap;cursor:default}
.row:hover{background:var(--raised)}
.rows:focus .cursor{background:var(--cursor)}
.cursor{box-shadow:inset 2px 0 var(--accent)}

.split{flex:1;min-height:0;display:flex;flex-wrap:wrap}
.split>.alert{flex:1 0 100%}
.list,.node{container-type:inline-size;flex-basis:320px;min-width:0;height:100%}
.list+.node{border-left:1px solid var(--line)}
.ellipsis,.preview,.ends>:first-child{overflow:hidden;text-overflow:ellipsis}
.ellipsis{white-space:nowrap}
.miss svg{opacity:.3}
svg{display:block;flex:none;stroke-width:2}
.lane{fill:none}
.message{flex:1;min-width:60px;display:flex;align-items:center;gap:6px;overflow:hidden}
.user .preview{font-weight:500}
.here .preview{font-weight:600}
.wordless{font-style:italic}
.aside .preview,.wordless,.row.miss .preview{color:var(--muted)}
.marks{display:flex;gap:6px;min-width:0;max-width:55%;overflow:hidden}
.mark{display:flex;border:1px solid;border-radius:9px;padding:0 4px;font-size:11px;line-height:16px;color:var(--text);
overflow:hidden;max-width:220px;min-width:0}
.diamond{margin-right:4px}
.ends{display:flex;min-width:0;white-space:pre}
.ends>:nth-child(2){flex:none}
.extra{flex:none;margin-left:5px;display:none}
@container (min-width:560px){.extra{display:inline}}
.mark.active{color:var(--on-accent)}
.mark.point{border-radius:4px;border-color:var(--edge)}
.state{font-size:11px;color:var(--warn)}
.growing{color:var(--accent)}
.unanswered{color:var(--muted)}
.failed{color:var(--alert)}
.fold{flex:none;font-size:11px;line-height:1;min-height:18px;padding:0 4px;color:var(--muted)}
@keyframes pulse{to{opacity:.35}}
@media (prefers-reduced-motion:no-preference){.streaming .dot{animation:pulse 1s infinite alternate}}

@media (pointer:coarse){
button,select,input,label{min-height:44px}
.icon,.fold{min-height:44px;min-width:44px}
}
`;

/** How many branch colours there are before they begin again. */
const BRANCH_COLOURS = 8;

/** The colour of a branch, by its index; -1 is a message that no branch reaches. */
export function branchColour(branch: number): string {
  return branch < 0 ? 'var(--edge)' : `var(--branch-${branch % BRANCH_COLOURS})`;
}
