/** The styles of the views that are loaded when they are first shown; most colours are those of `theme.ts`. */
export const viewCss: string = `
.collapsed .panel{container-type:normal;height:auto}
.collapsed:not(.bottom) .panel{bottom:auto}
.collapsed .view,.collapsed .resizer{display:none}
.resizer{position:absolute;inset:0;z-index:1;width:6px;cursor:ew-resize;touch-action:none}
.left .resizer{left:auto}
.top .resizer,.bottom .resizer{width:auto;height:6px;cursor:ns-resize}
.top .resizer{top:auto}
.resizer:hover,.resizer:focus-visible{background:var(--accent)}
.view .bar{flex-wrap:wrap}
.bar h2,.bar span.grow{flex:1 1 100px}
.items{position:absolute;right:0;top:100%;z-index:2;width:max-content;max-height:calc(100cqh - 76px);overflow:auto;padding:6px;
background:var(--ground);border:1px solid var(--edge);border-radius:4px;box-shadow:0 0 24px rgb(0 0 0/.18)}
.items *{display:block;padding:0 8px}
.items button{width:100%;border:0;text-align:left;white-space:nowrap}
.items .warn{white-space:normal;max-width:180px}
.warn,.approval-requested,.chip{color:var(--warn)}
.bad,.output-error,.output-denied{color:var(--alert);border-color:var(--alert)}
.facts,.text,.inset,.turn,.form,.part,.rows h2{padding:6px 10px}
details>.facts{columns:220px;padding:0}
.facts div{display:flex;gap:6px}
dt,.group{color:var(--muted)}
dt{flex:0 0 84px}
dd,.sides>*{flex:1;min-width:0}
dd,.text,.turn,.fragment{overflow-wrap:anywhere}
label{display:inline-flex;align-items:center;gap:4px;min-width:0;max-width:100%;white-space:nowrap}
[type=checkbox]{min-height:0}
[type=search],[type=range]{min-width:70px}
[type=number]{width:64px}
select{min-width:0;max-width:200px}
.steady label{flex:1 1 160px}
.steady select{flex:1;width:0}
.end,.inset select,.end select{flex:1 1 200px;max-width:100%}
ol,ul{list-style:none;padding:0}
.naming{width:132px}
.columns{display:flex;justify-content:flex-end;gap:6px;padding:2px 8px;overflow:hidden;border-bottom:1px solid var(--line);flex:none}
.columns,.columns+.graph{scrollbar-gutter:stable}
.cell{flex:none;width:clamp(50px,12cqw,60px);overflow:hidden;text-overflow:ellipsis;text-align:right}
.cell.model{width:clamp(50px,12cqw,96px)}
.cell,.columns,.share,.role,.figures,.legend,.gist,legend,thead{color:var(--muted);font-size:11px}
.meter{display:flex;height:8px;margin:4px 0;border:1px solid var(--edge);border-radius:4px;overflow:hidden}
.key-system{background:var(--accent)}
.key-history{background:var(--branch-1)}
.key-tools{background:var(--branch-3)}
.key-reserve{background:var(--branch-6)}
.share{margin-left:8px;white-space:nowrap;font-weight:400}
.chip{border:1px solid;border-radius:4px}
section+section,.formats section,.detail{border-top:1px solid var(--line)}
h2 *{font-weight:400}
p+p{margin-top:4px}
.text{white-space:pre-wrap}
.turn .text{padding:2px 0}
a{color:var(--accent);display:block}
.turn{border-bottom:1px solid var(--line)}
.role{display:flex;justify-content:space-between;align-items:baseline;font-weight:600}
.part{margin-top:4px;background:var(--raised);border-radius:4px}
img{display:block;max-width:100%;max-height:180px}
.sides{display:flex;gap:16px}
ins{background:var(--cursor)}
del{color:var(--alert)}
.tree .row{gap:0}
.tree .ellipsis{white-space:pre;min-width:20%;flex-shrink:99}
.tree .marks{margin-left:auto;padding-left:12px}
.string{color:var(--branch-2)}
.number{color:var(--branch-1)}
.literal{color:var(--branch-3)}
.fragment{display:flex;width:100%;color:inherit}
.piece:hover{background:var(--raised)}
[aria-pressed=true],[aria-checked=true]{background:var(--cursor);box-shadow:inset 0 0 0 1px var(--accent)}
.legend,fieldset{display:flex;flex-wrap:wrap;gap:2px 12px}
.legend span span{display:inline-block;width:10px;height:10px;border:1px solid var(--edge)}
table{border-collapse:collapse}
th,td{padding:2px 8px 2px 0;text-align:left;font-weight:400}
.sums{margin:6px 10px}
.sums td,.sums th+th{text-align:right}
summary{min-height:24px}
.form{display:flex;flex-direction:column;gap:6px}
.form .bar{padding:4px 0;background:none;border:0}
fieldset{min-width:0;margin:0;padding:4px 8px;border:1px solid var(--line)}
textarea{width:100%}
:disabled,[aria-disabled=true]{color:var(--muted);opacity:.7}
[role=alertdialog]{border:1px solid var(--warn)}
.formats{display:flex;flex-wrap:wrap;align-content:flex-start}
.formats section{flex:1 1 200px;min-width:0}
.line{padding:0 8px}
.kind{color:var(--accent)}
.detail{flex:none;max-height:30%}
@container (max-width:640px){
.two{flex-flow:column}
.two>.node{border:0;border-top:1px solid var(--line)}
}
@container (max-width:480px){
:nth-child(n+4 of .cell){display:none}
.columns:has(:nth-child(4))::before{content:"more when wider";margin-right:auto}
}
@container (max-height:260px){
.view{overflow:auto}
.view .rows,.split{min-height:60px}
}
`;
