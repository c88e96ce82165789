/** Their tests start processes, browsers and templates of their own: what is planted here does not reach those. */
export const elsewhere = /^(console|house|image|infra|lambda|local|mutate|package|readme|smoke|emulator)\//;
