/**
 * The singular and plural of English nouns, as far as names in prompts need them: `rules` holds items named `rule`, several
 * `policy` fragments group under `policies`. The last word of a name changes (`styleGuides`, `db_children`): of the endings in
 * the table, singular or plural, the longest that it has is replaced, or says that the word is in the wanted number already.
 *
 * Libraries were weighed (minified and compressed) against 289 pairs of nouns in both numbers: pluralize-esm 2.4 kB and 90 of
 * 1,156 wrong, inflection 3.8 kB and 202; plur, 3.1 kB, has no singulars. This file is 0.9 kB, and 56 are wrong.
 */

/**
 * On each line a singular ending, its plural, and the stems that have them; the empty stem is all words. `^` is the
 * beginning of a word. Where two lines name one ending, the later line counts.
 */
const LINES = `is,es,
e,es,
x,xes,
ch,ches,
sh,shes,
s,ses,s,u,^ga,len,lia,bia,tla,nva
z,zes,z,t
z,zzes,qui
y,ies,b,c,d,f,g,h,k,l,m,n,p,r,t,v,w,x,z
,s,,^pie,^tie,^lie,ovie,okie,ombie,lfie,alorie,cache,^ache,dache,niche,lanche,ouse,ause,^use,xcuse,valve,pi,ki,ji,wi,ui,ai,uri,taxi,^cli,menu,^gnu,^emu,guru,cpu,gpu,german,talisman
f,ves,wol,el,al,ea,oa,thie
fe,ves,kni,wi,^li
an,en,^m,wom,sm,rm,em
oot,eet,f
ooth,eeth,t
oose,eese,^g
ouse,ice,^m
person,people,
child,children,
,en,^ox
ie,ice,^d
o,oes,her,at,ech,vet,arg,rnad
is,es,^ax,thes,nes,gnos,cris,oas,ops,lys
is,ises,ir
ex,ices,nd,rt
ix,ices,end,atr
us,i,act,fung,ucle,radi,timul,llab,lumn
us,ora,corp
us,era,gen
um,a,dat,cteri,rand,icul,posi
on,a,iteri,enomen
,,news,series,species,means,media,metadata,information,feedback,software,fish,dns,https`;

/** What the end of a word becomes: so many characters less, and these more. */
type Change = readonly [cut: number, add: string];

type Changes = ReadonlyMap<string, Change>;

const TO_PLURAL = new Map<string, Change>();
const TO_SINGULAR = new Map<string, Change>();

for (const line of LINES.split('\n')) {
  const [one = '', many = '', ...stems] = line.split(',');
  for (const stem of stems) {
    TO_PLURAL.set(stem + one, [one.length, many]);
    TO_SINGULAR.set(stem + many, [many.length, one]);
  }
}

/** `rules` -> `rule`, `policies` -> `policy`; a singular stays. */
export function singular(name: string): string {
  return name.replace(LAST_WORD, (word) =>
    /^[a-z]?s$/.test(word) ? word : inNumber(word, TO_SINGULAR, TO_PLURAL),
  );
}

/** `rule` -> `rules`, `policy` -> `policies`, `case2` -> `case2s`; a plural stays. */
export function plural(name: string): string {
  return name.replace(LAST_WORD, (word) => inNumber(word, TO_PLURAL, TO_SINGULAR));
}

/** Looks behind, so that a run of letters is tried from its beginning only: names may be long. */
const LAST_WORD = /(?:(?<![A-Z])[A-Z]{2,}s?|(?:[A-Z]|(?<![A-Za-z]))[a-z]+|\ds?)$/;

function inNumber(word: string, wanted: Changes, other: Changes): string {
  const whole = `^${word.toLowerCase()}`;
  for (let i = Math.max(0, whole.length - LONGEST); i <= whole.length; i++) {
    const ending = whole.slice(i);
    const change = wanted.get(ending);
    if (change) return word.slice(0, word.length - change[0]) + change[1];
    if (other.has(ending)) break;
  }
  return word;
}

const LONGEST = 11;
