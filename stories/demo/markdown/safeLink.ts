/** The address of a link that may be followed, absolute and in one of three schemes; undefined for all others. */
export function safeLink(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
}
