/** What no test shows, and where to look for it in an account: printed by `smoke:aws` behind its own steps, and by `--list`. */
export const onlyAnAccount = `
what                                                 where to look
the administrator comes by IAM in this region        the migration's log: "the administrator made the roles"
a db.t4g.small has memory for sign-ins by IAM        FreeableMemory, SwapUsage, IamDbAuthConnection* of the server
functions and tasks reach every service              the steps of smoke:aws; stoppedReason of a task that stopped
the image builds on its real base, starts on ARM     createdAt and startedAt of aws ecs describe-tasks
how often spare capacity is refused                  FailedInvocations of the rules; the queue of lost wakes
EventBridge starts tasks, the lock lets one work     the scheduler's log: a pass each minute, or "held by"
ended tasks of Fargate jobs are heard of             the log of the function of ECS events; LostEvents is empty
alarms ring, are over, and reach people              aws cloudwatch set-alarm-state of SchedulerSilent
a key of yours (encryptionKey) suffices for all      no AccessDenied of kms.amazonaws.com in CloudTrail
sealed payloads open in their lane alone             Decrypt in CloudTrail, and by which role
the pipeline's roles are enough                      the workflow's runs; AccessDenied in CloudTrail
interfaces of functions go with the stack            npx cdk destroy, and again half an hour later
failover, restore, a copy in another region          the runbook's commands, each once
the fakes' task: volume, name, signature, log        the judgement of smoke:aws
the bill                                             npm run bench:aws -- --charged DAY, beside docs/costs.md
`;
