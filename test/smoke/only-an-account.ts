/** What no test shows, and where to look for it in an account: printed by `smoke:aws` behind its own steps, and by `--list`. */
export const onlyAnAccount: readonly (readonly [what: string, lookAt: string])[] = [
  [
    "the administrator comes by IAM in this region",
    "the log of BelfryMigrationMigrate...: `the administrator made the roles`",
  ],
  [
    "a `db.t4g.small` has memory for sign-ins by IAM",
    "FreeableMemory, SwapUsage and IamDbAuthConnection* of the server; alarms DatabaseMemory, DatabaseSwap",
  ],
  [
    "functions and tasks reach every service",
    "the steps above; a task that stopped: `aws ecs describe-tasks`, stoppedReason",
  ],
  [
    "the image builds on its real base, and starts on ARM within a minute",
    "startedAt - createdAt of `aws ecs describe-tasks`",
  ],
  ["how often spare capacity is refused", "FailedInvocations of the rules, and what lies in the queue of lost wakes"],
  ["EventBridge starts the task, the lock lets one pass", "the log of the scheduler: a pass each minute, or `held by`"],
  ["ended tasks of Fargate jobs are heard of", "the log of the function of ECS events; LostEvents is empty"],
  [
    "alarms ring and are over, and reach people",
    "`aws cloudwatch set-alarm-state` of SchedulerSilent; the mail, the channel, the page",
  ],
  [
    "a key of yours suffices for all",
    "with `encryptionKey`: queues, table, logs and a wake that failed; no AccessDenied of kms.amazonaws.com in CloudTrail",
  ],
  [
    "sealed payloads open in their lane alone",
    "with `seals`: one sealed job; GenerateDataKey and Decrypt in CloudTrail, by which role",
  ],
  ["the pipeline's roles are enough, and no more", "the workflow's runs; AccessDenied in CloudTrail"],
  ["a rollback ends in time, and interfaces of functions go", "`npx cdk destroy`: DELETE_FAILED half an hour later"],
  ["failover, restore, a copy in another region", "the runbook's commands, each once"],
  ["the fakes' task: its volume, its name, its signature, its log", "the judgement that `smoke:aws` prints"],
  ["the bill", "`npm run bench:aws -- --charged DAY` beside docs/costs.md"],
];
