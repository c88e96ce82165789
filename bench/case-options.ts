/** What every case is told. */
export interface CaseOptions {
  /** How long the cases that live in real time go on. */
  readonly minutes: number;
}
