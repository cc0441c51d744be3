import type { ReactNode } from 'react';

export const metadata = { title: 'A chat with a route handler' };

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
