-- Which calendar excluded the day of a nominal time, and by which entry: `holidays: 2026-12-25 Christmas`. With a job it was moved.
alter table belfry.occurrence add column calendar text;

-- A reading of an excluded day stands at its own instant, which a reading that a gap moved may share.
drop index belfry.occurrence_nominal;
create unique index occurrence_nominal on belfry.occurrence (schedule_id, nominal_at)
  where outcome <> 'COALESCED' and reason is distinct from 'dst-gap' and reason is distinct from 'excluded';
