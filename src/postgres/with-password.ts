/** Puts the password into the address: the driver prefers an address without one to a password beside it. */
export async function withPassword(url: string, password: (() => Promise<string>) | undefined): Promise<string> {
  if (password === undefined) return url;
  const complete = new URL(url);
  complete.password = await password();
  return complete.href;
}
