/** By night: colours are looked at. All else is as it was by day, and takes axe three times as long. */
export const night = {
  args: { theme: 'dark' },
  globals: { scheme: 'dark' },
  parameters: { a11y: { options: { runOnly: ['color-contrast', 'link-in-text-block'] } } },
} as const;
