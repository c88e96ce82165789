-- A join of n of m: how many predecessors must have succeeded, beside the rule 'any'. null: one.
alter table belfry.job add column join_least int check (join_least > 1);

-- For a rule with a least number, preds_ok is what has succeeded less (least - 1). The same table as `join.ts`; a test compares them.
create or replace function belfry.join_verdict(rule belfry.join_rule, preds_open int, preds_ok int, preds_bad int) returns text
  language sql immutable parallel safe
  return case rule
    when 'all' then case
      when preds_bad > 0 then 'upstream'
      when preds_open > 0 then 'wait'
      when preds_ok > 0 then 'ready'
      else 'not taken' end
    when 'any' then case
      when preds_ok > 0 then 'ready'
      when preds_bad > 0 and preds_open + preds_ok <= 0 then 'upstream'
      when preds_open > 0 then 'wait'
      else 'not taken' end
    else case when preds_open > 0 then 'wait' else 'ready' end
  end;
