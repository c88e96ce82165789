/**
 * The example's input, and how the mail server treats each user: one place, so that the seed, the fake and the judge of
 * a run agree. Plain arithmetic: the same on every machine.
 */
export const input = { users: 60, capsules: 48, perMinute: 8 };

/** `late`: the server stores the mail after we gave up waiting. `hangs`: it takes the mail and says nothing for 70 s. */
export type Treatment = "accepted" | "busy once" | "rejected" | "late" | "hangs";

export function treatmentOf(user: number): Treatment {
  if (user % 20 === 7) return "rejected";
  if (user % 30 === 11) return "late";
  if (user % 30 === 19) return "hangs";
  return user % 10 === 3 ? "busy once" : "accepted";
}

export const wantsEmail = (user: number): boolean => user % 4 !== 0;

/** The domain alone says how a mail is treated; that is all that the server sees of a user. */
export const emailOf = (user: number): string => `user-${user}@${treatmentOf(user).replace(" ", "-")}.example`;

export const treatmentByDomain = (address: string): Treatment =>
  (/@(accepted|busy-once|rejected|late|hangs)\./.exec(address)?.[1]?.replace("-", " ") as Treatment | undefined) ??
  "accepted";

/** Members of a capsule: one to three people, different from capsule to capsule. */
export function membersOf(capsule: number, users: number): readonly number[] {
  const count = 1 + (capsule % 3);
  const all = Array.from({ length: count }, (_, index) => ((capsule * 7 + index * 13) % users) + 1);
  return [...new Set(all)].toSorted((a, b) => a - b);
}

export const isDamaged = (capsule: number): boolean => capsule % 24 === 5;
