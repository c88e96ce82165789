import { backlog } from "./cases/backlog.ts";
import { cap } from "./cases/cap.ts";
import { budgetProof } from "./cases/budget.ts";
import { canaryProof } from "./cases/canary.ts";
import { calendarProof } from "./cases/calendar.ts";
import { circuitProof } from "./cases/circuit.ts";
import { batchProof } from "./cases/batch.ts";
import { debounceProof } from "./cases/debounce.ts";
import { perKey } from "./cases/per-key.ts";
import { rateProof } from "./cases/rate.ts";
import { fairnessProof, priorityProof } from "./cases/turns.ts";
import { crashScheduler } from "./cases/crash-scheduler.ts";
import { crashWorker } from "./cases/crash-worker.ts";
import { clockSkew } from "./cases/clock-skew.ts";
import { clockAhead, dbOutage } from "./cases/db-outage.ts";
import { dailyQuiz } from "./cases/daily-quiz.ts";
import { diskFull } from "./cases/disk-full.ts";
import { dropSchedule } from "./cases/drop-schedule.ts";
import { ecsStop } from "./cases/ecs-stop.ts";
import { failovers } from "./cases/failovers.ts";
import { killAll } from "./cases/kill-all.ts";
import { fanoutKill } from "./cases/fanout-kill.ts";
import { graphs } from "./cases/graphs.ts";
import { lockDown } from "./cases/lock-down.ts";
import { move, restore } from "./cases/restore.ts";
import { messageStorm } from "./cases/message-storm.ts";
import { newVersion } from "./cases/new-version.ts";
import { net } from "./cases/net.ts";
import { pgCrash } from "./cases/pg-crash.ts";
import { poison } from "./cases/poison.ts";
import { month } from "./cases/month.ts";
import { objectiveProof } from "./cases/objective.ts";
import { missedWakes } from "./cases/missed-wakes.ts";
import { schedulers50 } from "./cases/schedulers-50.ts";
import { promote } from "./cases/promote.ts";
import { sigterm } from "./cases/sigterm.ts";
import { slowMail } from "./cases/slow-mail.ts";
import { sqsChaos } from "./cases/sqs-chaos.ts";
import { taskflowWalk } from "./cases/taskflow-walk.ts";
import { chainProof } from "./cases/chain.ts";
import { eachProof } from "./cases/each.ts";
import { newestProof } from "./cases/newest.ts";
import { signalProof } from "./cases/signal.ts";
import { thenProof } from "./cases/then.ts";
import { timeCapsule } from "./cases/time-capsule.ts";
import { transfersProof } from "./cases/transfers.ts";
import { upgrade } from "./cases/upgrade.ts";
import { zombie } from "./cases/zombie.ts";
import { heldOrder } from "./cases/held-order.ts";
import { overlapCancel } from "./cases/overlap-cancel.ts";
import { overlapCatchUp } from "./cases/overlap-catch-up.ts";
import { takeover } from "./cases/takeover.ts";
import { hostileInput } from "./cases/hostile-input.ts";
import { cron } from "./cases/cron.ts";
import { zones } from "./cases/zones.ts";
import type { Proof } from "./proof.ts";

/** Every case there is, in the order of `all`. */
export const proofs: readonly Proof[] = [
  crashWorker,
  crashScheduler,
  transfersProof,
  sigterm,
  zombie,
  lockDown,
  schedulers50,
  poison,
  cap,
  perKey,
  rateProof,
  debounceProof,
  batchProof,
  circuitProof,
  budgetProof,
  canaryProof,
  fairnessProof,
  priorityProof,
  backlog,
  messageStorm,
  missedWakes,
  objectiveProof,
  month,
  clockSkew,
  dailyQuiz,
  taskflowWalk,
  newVersion,
  thenProof,
  eachProof,
  newestProof,
  signalProof,
  chainProof,
  calendarProof,
  timeCapsule,
  slowMail,
  killAll,
  pgCrash,
  net,
  cron,
  zones,
  upgrade,
  hostileInput,
  graphs,
  fanoutKill,
  dbOutage,
  failovers,
  promote,
  clockAhead,
  takeover,
  heldOrder,
  overlapCatchUp,
  overlapCancel,
  dropSchedule,
  diskFull,
  restore,
  move,
  ecsStop,
  sqsChaos,
];
