/** The lock row in Postgres that is used while the lock store is away. */
export interface FallbackLock {
  /** Takes the lock row judged by the database's clock; the fence is above every token known. */
  takeFallback(name: string, owner: string, leaseMs: number): Promise<{ fence: number } | { heldBy: string }>;
  renewFallback(name: string, owner: string, fence: number, leaseMs: number): Promise<boolean>;
  releaseFallback(name: string, owner: string, fence: number): Promise<void>;
}
