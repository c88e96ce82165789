-- Runs whose jobs are written before the nominal time of their schedule: until it comes, they may still be taken back.

alter table belfry.run
  add column ahead_of  timestamptz,                     -- that nominal time; null once it has come and was decided
  add column ahead_by  text,                            -- the schedule that may still take it back
  add column withdrawn text,                            -- why it was: its jobs never ran, and their keys are free again
  add constraint run_ahead check ((ahead_of is null) = (ahead_by is null));
-- Holds only what is written ahead, which every pass reads.
create index run_ahead on belfry.run (ahead_of) where ahead_of is not null;
