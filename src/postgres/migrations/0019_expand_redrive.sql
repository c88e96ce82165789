-- A redrive in steps: `step` of `steps` jobs of each group is out, in `canaries`; 'wanted' with some: chosen, and not yet retried.
alter table belfry.bulk
  add column steps       int[] not null default '{}',     -- jobs of each group before all the rest
  add column step        int not null default 1 check (step > 0),
  add column groups      text[] not null default '{}',    -- fingerprints of what it has chosen
  add column failed      int not null default 0 check (failed >= 0), -- of the step that stopped it
  add column failed_code text;                            -- of most of those

-- A kind with a retry budget counts its first attempts as a circuit that never opens, `retry:KIND`. Up to then its retries have their times.
alter table belfry.circuit add column retry_at timestamptz;
