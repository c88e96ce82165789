-- Spread: when a time is due, of a schedule that is spread; null: at its nominal time. The nominal time stays what orders and names it.
alter table belfry.occurrence add column effective_at timestamptz;
alter table belfry.job add column effective_at timestamptz;
