/** The address with the password that was asked for: the driver lets an address without one win over a password beside it. */
export async function withPassword(url: string, password: (() => Promise<string>) | undefined): Promise<string> {
  if (password === undefined) return url;
  const complete = new URL(url);
  complete.password = await password();
  return complete.href;
}
