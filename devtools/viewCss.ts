import { recordsCss } from './recordsCss.ts';

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
.engines{max-width:120px}
.copy{color:var(--warn);border-bottom:1px solid var(--line)}
.root{--added:light-dark(#d6f2df,#173d26);--removed:light-dark(#fbdcd9,#52211e);--string:light-dark(#1c6b3c,#7fd0a0);--number:light-dark(#8a4600,#f0b078);--literal:light-dark(#7a2f9e,#d3a2f2);}
.view .items{max-height:calc(100cqh - 76px)}
.items{position:absolute;right:0;top:100%;z-index:2;max-height:calc(100cqh - 40px);overflow:auto;display:flex;flex-direction:column;gap:4px;padding:6px;min-width:150px;
background:var(--ground);border:1px solid var(--edge);border-radius:6px;box-shadow:0 4px 16px rgb(0 0 0/.2)}
.items [aria-disabled=true]{color:var(--muted);cursor:default}
.off{color:var(--warn)}
.items .off{display:block;font-size:11px;white-space:normal;max-width:180px}
.items [role=group]{display:flex;flex-direction:column}
.items .muted{padding:2px 8px;font-size:11px}
.items button{border-color:transparent;text-align:left;white-space:nowrap}
.items [aria-checked]::before{content:"";display:inline-block;width:1.2em}
.items [aria-checked=true]::before{content:"✓"}
.facts{margin:0;padding:8px 10px;border-bottom:1px solid var(--line)}
.facts div{display:flex;gap:8px}
.facts dt{color:var(--muted);flex:0 0 84px}
.facts dd{margin:0;min-width:0;overflow-wrap:anywhere}
input[type=checkbox]{min-height:0;cursor:pointer}
label{display:inline-flex;align-items:center;gap:4px}
.bar label.grow{display:flex}
[type=search]{min-width:70px}
.filters{flex-wrap:wrap}
.filters select{flex:1 1 84px;min-width:0;max-width:160px}
.naming{min-height:18px;padding:0 4px;width:132px}
.columns{display:flex;justify-content:flex-end;gap:6px;padding:2px 8px 2px 0;overflow:hidden;scrollbar-gutter:stable;
border-bottom:1px solid var(--line);color:var(--muted);font-size:11px;flex:none}
.columns+.graph{scrollbar-gutter:stable}
.cell{flex:none;width:56px;overflow:hidden;text-overflow:ellipsis;text-align:right;color:var(--muted);font-size:11px;
font-variant-numeric:tabular-nums}
.cell.model{width:96px}
.cell.duration{width:60px}
@container (max-width:519px){.cell.model{width:64px}.cell{width:50px}}
.view .bar:has(.model){flex-wrap:wrap}
.model select{max-width:150px}
.size{padding:8px 10px}
.size p{margin:0}
.meter{display:flex;height:8px;margin:6px 0 4px;border:1px solid var(--edge);border-radius:4px;overflow:hidden}
.meter span{background:var(--branch-1)}
.meter .system{background:var(--accent)}
.meter.over{border-color:var(--alert)}
.share{margin-left:8px;color:var(--muted);font-weight:400;font-size:11px;white-space:nowrap;font-variant-numeric:tabular-nums}
.fragments{list-style:none;margin:4px 10px 0;padding:0}
.fragments li{display:flex;align-items:baseline}
.fragments .grow{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.note{margin:0;padding:6px 10px;color:var(--warn);border-top:1px solid var(--line)}
.chip{display:inline-block;margin:0 1px;padding:0 4px;border:1px solid var(--warn);border-radius:3px;color:var(--warn);
font:10px/14px ui-monospace,Menlo,Consolas,monospace;unicode-bidi:isolate;direction:ltr}
.scroll{flex:1;min-height:0;overflow:auto;overscroll-behavior:contain}
.scroll section+section{border-top:1px solid var(--line)}
.scroll h2{padding:8px 10px 0}
.text{margin:0;padding:6px 10px 10px;white-space:pre-wrap;overflow-wrap:anywhere}
.turns{list-style:none;margin:0;padding:0 0 8px}
.turn{padding:6px 10px;border-top:1px solid var(--line)}
.turns>.turn:first-child,.faces+.turn{border-top:0}
.part a.text{display:block;padding:0}
.role{display:flex;justify-content:space-between;align-items:baseline;font-size:11px;font-weight:600;color:var(--muted)}
.turn .text{padding:2px 0}
.part{margin:4px 0 0;padding:4px 6px;background:var(--raised);border-radius:4px}
.part .text{padding:0}
.side{display:flex;gap:6px}
.side>.muted{flex:0 0 42px}
.side>.text{flex:1;min-width:0}
.part .alert{padding:4px 0 0;border:0}
.tool.output-error,.tool.output-denied{color:var(--alert)}
.tool.approval-requested{color:var(--warn);font-weight:600}
.picture{display:block;max-width:100%;max-height:180px;margin:4px 0;border:1px solid var(--line)}
a{color:var(--accent)}
.faces{padding:6px 10px;border-bottom:1px solid var(--line)}
.more{padding:4px 10px;border-bottom:1px solid var(--line)}
.more summary{color:var(--muted)}
.more ol{margin:0 0 4px;padding-left:20px}
.more .facts{padding:2px 0 4px;border:0}
.revision h2{padding:8px 10px 0;color:var(--muted);font-weight:600}
.edit{display:flex;flex-direction:column;gap:6px;padding:8px 0 0;border-bottom:1px solid var(--line)}
.edit textarea{margin:0 10px;width:auto}
.edit .bar{flex-wrap:wrap;border:0}
.edit .bar .grow{flex-basis:100%}
.end{flex:1;min-width:0}
.end select{flex:1;min-width:0;width:0}
.ancestor{margin:0;padding:4px 10px;border-block:1px solid var(--line);color:var(--muted);overflow-wrap:anywhere}
.ancestor .quiet{text-align:left}
.pairs{list-style:none;margin:0;padding:0}
.pairs>li{border-bottom:1px solid var(--line)}
.pairs section{min-width:0;padding:6px 10px}
.pairs .text{padding:2px 0}
.pairs .role{margin:0;gap:6px}
.pairs .role .share{flex:1}
.same{margin:0;padding:4px 10px;color:var(--muted);text-align:center}
.sides{display:grid;grid-template-columns:1fr 1fr}
.sides section+section{border-width:0 0 0 1px;border-left:1px solid var(--line)}
.wide .alone{width:50%}
.wide .alone.b{margin-left:50%}
ins{background:var(--added);text-decoration:none;border-bottom:1px solid var(--string)}
del{background:var(--removed);text-decoration:line-through;text-decoration-color:var(--alert)}
.unchanged{display:block;color:var(--muted);font-size:11px;text-align:center;margin:4px 0}

.tree .row{gap:0}
.twisty{width:14px;flex:none;text-align:center;color:var(--muted)}
.key{color:var(--text)}
.value{overflow:hidden;text-overflow:ellipsis;white-space:pre}
.value.string{color:var(--string)}
.value.number{color:var(--number)}
.value.literal{color:var(--literal)}
.value.group{color:var(--muted)}

h2 .muted{font-weight:400}
.wrap,.heading{flex-wrap:wrap}
.heading h2{flex:1 1 180px}
.wrap label{min-width:0;max-width:100%;white-space:nowrap}
.wrap select{min-width:0;max-width:100%;flex:0 1 auto}
.inset{margin:0;padding:6px 10px}
.switch{display:flex}
.switch button{border-radius:0;margin-left:-1px}
.switch button:first-child{border-radius:4px 0 0 4px;margin-left:0}
.switch button:last-child{border-radius:0 4px 4px 0}
[aria-pressed=true]{background:var(--cursor)}
.fragment{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 8px;width:100%;border-color:transparent;background:none;text-align:left;padding:2px 6px}
.fragment[aria-pressed=true]{background:var(--cursor);border-color:var(--accent)}
.fragment .name{font-weight:500;overflow-wrap:anywhere}
.origin{font-size:11px;overflow:hidden;text-overflow:ellipsis}
.piece{cursor:pointer;border-radius:2px;box-decoration-break:clone;-webkit-box-decoration-break:clone}
.piece:hover{background:var(--hover)}
.piece[aria-pressed=true]{background:var(--cursor);outline:1px solid var(--accent)}
.legend{display:flex;flex-wrap:wrap;gap:2px 12px;margin:0;padding:6px 10px;font-size:11px}
.legend span span{display:inline-block;width:10px;height:10px;border-radius:2px;border:1px solid var(--edge);vertical-align:-1px}
.root .key-system{background:var(--accent)}
.root .key-history{background:var(--branch-1)}
.root .key-tools{background:var(--branch-3)}
.root .key-reserve{background:var(--branch-6)}
.root .key-free{background:var(--raised)}
.figures{margin:2px 0 0;font-size:11px;overflow-wrap:anywhere}
.view p.over{color:var(--alert);font-weight:600}
.turn.here{box-shadow:inset 2px 0 var(--accent)}
.turn .question{padding:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;text-align:left;font-weight:600}
.table{border-collapse:collapse;margin:4px 0;font-variant-numeric:tabular-nums}
.table th,.table td{padding:2px 12px 2px 0;text-align:left;font-weight:400;vertical-align:top;overflow-wrap:anywhere}
.table thead th{color:var(--muted);font-size:11px}
summary{cursor:pointer;min-height:24px}
.cache{margin:2px 0 0;font-size:12px}
.cache p{margin:4px 0}
.broke{color:var(--alert)}
.form{padding:6px 10px;display:flex;flex-direction:column;gap:6px}
.form .bar{padding:4px 0;background:none;border:0}
.form fieldset{margin:0;padding:2px 8px 6px;border:1px solid var(--line);border-radius:4px;display:flex;flex-wrap:wrap;gap:2px 14px}
.form legend{color:var(--muted);font-size:11px;padding:0 4px}
.field{flex-direction:column;align-items:stretch;color:var(--muted);font-size:11px}
textarea{color:var(--text);padding:4px 6px;width:100%;resize:vertical}
button:disabled,fieldset:disabled{color:var(--muted);cursor:default;opacity:.7}
.primary{background:var(--accent);color:var(--on-accent);border-color:var(--accent)}
.primary:hover{background:var(--accent);filter:brightness(1.1)}
.warning{border:1px solid var(--warn);border-radius:6px;padding:8px 10px;background:var(--raised)}
.warning p{margin:4px 0}
.warning h2{padding:0}
.wide{overflow-x:auto;white-space:nowrap}
.wide .table td,.wide .table th{vertical-align:middle}
.wide .why{white-space:normal;min-width:140px}
.table .quiet{padding:0}
.fail-at{width:64px}
.scrub{display:flex;gap:8px;align-items:center}
.scrub input{flex:1;min-height:24px}
.gist{max-width:160px;font-size:11px}
.bar .whole{flex:1 1 220px;text-overflow:ellipsis}
.formats{display:flex;flex-wrap:wrap;align-content:flex-start}
.formats section{flex:1 1 200px;min-width:0;border-top:1px solid var(--line)}
${recordsCss}`;
