/**
 * What characters cost in o200k, in eighths of a token, as letters from `+` for -2 on. Fitted to about eleven thousand pieces
 * in a hundred languages, none of which is among the short texts of `test/tokens` that judge the estimate.
 */

/** Pairs of letters of Latin words: 30 rows (a word behind a space, bare, behind a mark; a to z; another letter) of 27. */
export const PAIRS: Int8Array = weights(
  'BA?A@B>>DB>=@?B?C>>@A??CAC?CCAA@AA>DDC@AABAL@AABC@EABKFFEADEA@GCD>C@EBIABBCEBBDHC>:;:D=8=<:<8;9D8A9:' +
    '99:;;5=:>>9=:;>P=>N7@G;<@;9B9:8;:D;<<=?99N:<F97@D;>9:@9<4U?7<A=<=<<;BE>C9<8@=<K<;<=A@A9E<?><:<<>>?BC' +
    '<=<E=?:;;><;79=;<EC?;<@M;7H:E0<EE99;;<D;566@>?H==;8?J>?A;@FA=:;>=Z@J?4?.HL;CIQ=1AB;:<G8:59>G;8@6:<:<' +
    '8:::;;:=;9989=<98G:A<E70@<>>9G@G?6:9G@=I:T:H;F7:<DAAB>@<>9=BH:>H?E9<I;AHPB:@>JA<=<=:C>@@><DH>><@>?<D' +
    ';S<B6>=D@9GAO<A2=9<=;;=9A:H;E=5=?D;<<;:8@=;8C;><4>:9?=?M<F<?9<:=;<:@@9;?<9;::;;:;997<=<O@=;>98>9C8AD' +
    '<=?:<9:<A<79<R3A;J@/=P>6<T73@B?;:86C?=>=>A>=;>;??2>><<=?D==<@@CA<A9AD?<<BF>@Q??D?<?<>;<=H=:6EE>F>;;>' +
    'L<?E1;>?=>F<<?>@;:8A@==>=9;=D=;D9:<=;<;;<;EN;<F>?ACA;?3=<;7B@59A4KCAE5=95@7?>O8;9F<=;7CF<<:<<<6@8<9K' +
    'A>BCC;;=;JCLA8:1G?:;?@27@=<A=BGVD=GBOBJQ=B@=@=CA?=BBAD>?@FEI;E=?A8[@9>E:74<8;7:F7IR@W/6C86=E:A3?=C=8' +
    '5A8BB====9',
);

/** What an accent adds to its letter, from U+00DF on. */
export const ACCENTS: Int8Array = weights(
  '+DAE/A@O>A??M=@CYC:H<=@D=E;A<;F9==N=C=<=5=====E=<=1=<===@=@=@=P=.===;=====I=E===I=<=====:====>=5====' +
    '=6=>=N========J=9=====?=9=I=H=A=>=====>=R=<=7===D======6=:=;=',
);

/** Characters of other scripts and symbols, by sixteens up to U+3200, then by thirty-twos from U+1F000 on. */
export const BLOCKS: Int8Array = weights(
  'CCCCCCCCCCECCACECCCCCCCCCCCCCCCCCCCCC:CCCEC5CCCCECCCCAECC6@=<;CACCC<;E>CCEA:C0ECCCCCC;??>CC>C?AEAG=@' +
    '@DCD>K>6BKCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCB??@>CA[?@A>@CCCDAAAB;CC;F=?CCCCEDAIF;CCAA:G9CCC@B=ABCCC' +
    '/8@=GCCCE@?@@:CF@ABAACC?B:?G;CCCJIIMJ=CCCCCCCCCCCCCCCCCC@BA?CCCCCCCCC=EMCCCCCCCCCCCCCCCCNEKJ;CLLCTP:' +
    '@?RGI;==>@CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCB:DGDDCCCCCCCCCCCCCCCCCC' +
    'CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCXCCCCCCCCCGCCC?CCCCCCCCCCCCCCCCCCCCCCCCCCCCC' +
    'CCCCCCCACCCC@AC:CCC<C?WCCC>CC=BCCCCCCA@CCHCCRQOC[CBCQCCCCCCCC<CCCCCCCCCCFCAECCCCCCCCCCCCCCCCAICKCCJC' +
    'MOAV[[C9OKB;8<S7C8J<CD;FABF;K@8CC<7<CCCCCCCCCCCCCCCCCCCCCCC;CCCCCCCCCCCCCCCCCCCCCCCCCCCCB<CCCFCCCCCC' +
    'CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCJCC;AA@<@EEE==E>CCCCCCCCCCCCCCCC' +
    ';CCCCC>CCCC;<CCI<M;CCCCCLJOPJONMLQGNLIJMIEJI<E>JGHKCJYOKCCCCCCCMCCCCCCCCNFQLUZRTCCCNBQTF',
);

function weights(letters: string): Int8Array {
  return Int8Array.from(letters, (letter) => letter.charCodeAt(0) - 59);
}
