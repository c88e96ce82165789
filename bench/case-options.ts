/** What every case is given. */
export interface CaseOptions {
  /** How long the cases that live in real time go on. */
  readonly minutes: number;
}
