-- Batches of payloads: which jobs of its kind it may be started with, and the first job of the call of its newest attempt. null: its kind
-- has none, or it runs by itself.
alter table belfry.job add column batch_key text, add column batch_of bigint;
-- batch-gather, batch-full. What runs stands in it too, as no claim may write an index.
create index job_batch on belfry.job (kind, batch_key, due_at, id) where batch_key is not null and finished_at is null;
