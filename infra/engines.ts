/**
 * Of the servers that RDS makes. The major version alone: RDS chooses and upgrades the minor one, and the template does not
 * differ from what runs.
 */
export const engineVersions = { postgres: "17", "aurora-postgresql": "17" } as const;
