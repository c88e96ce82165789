-- Spread: when a time is due, of a schedule that is spread; null: at its nominal time. The nominal time stays what orders and names it.
alter table belfry.occurrence add column effective_at timestamptz;
alter table belfry.job add column effective_at timestamptz;
-- What is due after its nominal time, and waits.
create index occurrence_spread on belfry.occurrence (effective_at) where outcome = 'PLANNED' and effective_at is not null;
