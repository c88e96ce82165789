import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { databasePassword } from "../../src/aws/database-password.ts";
import { ensureDatabaseRoles, grantOwnRows } from "../../src/postgres/access.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { blankDatabase } from "../support/database.ts";
import { secretOf, serveSecrets } from "./secrets-server.ts";

const getSecret = "secretsmanager.GetSecretValue";
const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:belfry-AbCdEf";
const secret = (secretsEndpoint: string) =>
  databasePassword({
    auth: { kind: "secret", arn },
    databaseUrl: "postgresql://belfry@db:5432/belfry",
    region: "eu-west-1",
    secretsEndpoint,
  }) ?? (() => Promise.reject(new Error("a secret needs asking")));

const open = () => serveSecrets({ [getSecret]: secretOf('{"username":"belfry","password":"one"}') });

test("a secret is asked for at every connection, so its rotation ends no process", async () => {
  const { url, answers } = await open();
  const password = secret(url);
  expect(await password()).toBe("one");
  answers[getSecret] = secretOf('{"password":"two"}');
  expect(await password()).toBe("two");
});

test("the question is signed for the secrets service and names the secret", async () => {
  const { url, calls } = await open();
  await secret(url)();
  expect(calls[0]?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/secretsmanager\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/,
  );
  expect(JSON.parse(calls[0]?.body ?? "{}")).toEqual({ SecretId: arn });
});

test("a secret that is refused, or has no password, is an error that names the secret and shows nothing of it", async () => {
  const { url, answers } = await open();
  answers[getSecret] = { status: 400, body: { __type: "AccessDeniedException" } };
  await expect(secret(url)()).rejects.toThrow(`${arn} could not be read: 400 AccessDeniedException`);
  answers[getSecret] = secretOf("hunter2");
  const error = await secret(url)().catch((reason: unknown) => reason);
  expect(String(error)).toContain('has no field "password"');
  expect(String(error)).not.toContain("hunter2");
});

test("with IAM the password is a token that was signed for this server and user", async () => {
  await open();
  const password = databasePassword({
    auth: { kind: "iam" },
    databaseUrl: "postgresql://belfry@db.example:5433/belfry",
    region: "eu-west-1",
    secretsEndpoint: null,
  });
  const token = (await password?.()) ?? "";
  expect(token).toMatch(/^db\.example:5433\/\?Action=connect&DBUser=belfry&.*X-Amz-Expires=900.*X-Amz-Signature=/);
});

test("with IAM each connection has a token of its own time: one is taken for 15 minutes only", async () => {
  await open();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 21, 8) });
  onTestFinished(() => void vi.useRealTimers());
  const databaseUrl = "postgresql://belfry@db.example:5433/belfry";
  const options = { databaseUrl, region: "eu-west-1", secretsEndpoint: null };
  const password = databasePassword({ ...options, auth: { kind: "iam" } });
  const signedAt = async () => /X-Amz-Date=(\w+)/.exec((await password?.()) ?? "")?.[1];
  const first = await signedAt();
  vi.setSystemTime(Date.UTC(2026, 10, 21, 9));
  expect([first, await signedAt()]).toEqual(["20261121T080000Z", "20261121T090000Z"]);
});

test("a password in the URL needs no asking", () => {
  const databaseUrl = "postgresql://belfry:secret@db/belfry";
  const options = { databaseUrl, region: "eu-west-1", secretsEndpoint: null };
  expect(databasePassword({ ...options, auth: { kind: "password" } })).toBe(null);
});

/** A server as RDS gives it: its administrator is no superuser, makes roles, and may give out `rds_iam`. */
async function managedServer() {
  const { url, close } = await blankDatabase();
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  await client.query(`do $$ begin create role rds_iam; exception when duplicate_object then null; end $$`);
  await client.query(
    `create role belfry_admin login createrole password 'admin'; alter database "${name}" owner to belfry_admin`,
  );
  await client.query("grant rds_iam to belfry_admin with admin option, inherit false, set false");
  onTestFinished(async () => {
    for (const role of ["belfry_api", "belfry_app", "belfry_owner", "belfry_admin"]) {
      await client.query(
        `do $$ begin drop owned by ${role} cascade; exception when undefined_object then null; end $$`,
      );
      await client.query(`alter database "${name}" owner to current_user`);
      await client.query(`drop role if exists ${role}`);
    }
    await client.query("drop role rds_iam");
    await client.end();
    await close();
  });
  const as = (username: string, password: string): { url: string } => ({
    url: Object.assign(new URL(url), { username, password }).href,
  });
  return { client, as };
}

test("the administrator makes the roles once, by the second of its ways in, and only the owner comes afterwards", async () => {
  const { client, as } = await managedServer();
  const owner = as("belfry_owner", "owner");
  const administrators = [as("belfry_admin", "not this one"), as("belfry_admin", "admin")];
  expect(await ensureDatabaseRoles({ owner, administrators, apiConnections: 2 })).toBe(true);
  await client.query("alter role belfry_owner password 'owner'");
  expect(await ensureDatabaseRoles({ owner, administrators: [], apiConnections: 2 })).toBe(false);
  const { rows } = await client.query<{
    name: string;
    member: boolean;
    creates: boolean;
    super: boolean;
    most: number;
  }>(
    `select rolname as name, pg_has_role(oid, 'rds_iam', 'member') as member, rolsuper as super, rolconnlimit as most,
       has_database_privilege(oid, current_database(), 'create')
         or has_schema_privilege(oid, 'public', 'create') as creates
     from pg_roles where rolname in ('belfry_api', 'belfry_app', 'belfry_owner') order by rolname`,
  );
  expect(rows).toEqual([
    { name: "belfry_api", member: true, creates: false, super: false, most: 2 },
    { name: "belfry_app", member: true, creates: false, super: false, most: -1 },
    { name: "belfry_owner", member: true, creates: true, super: false, most: -1 },
  ]);
});

test("another limit of the API is the administrator's work again, and the server refuses one connection more", async () => {
  const { client, as } = await managedServer();
  const administrators = [as("belfry_admin", "admin")];
  const owner = as("belfry_owner", "owner");
  await ensureDatabaseRoles({ owner, administrators, apiConnections: 5 });
  await client.query("alter role belfry_owner password 'owner'; alter role belfry_api password 'api'");
  expect(await ensureDatabaseRoles({ owner, administrators, apiConnections: 1 })).toBe(true);
  await migrate(owner);
  await grantOwnRows(owner, "belfry_app");
  const [first, second] = [
    new Client(clientOf(as("belfry_api", "api"))),
    new Client(clientOf(as("belfry_api", "api"))),
  ];
  const app = new Client(clientOf(as("belfry_app", "app")));
  try {
    await first.connect();
    expect((await first.query("select count(*)::int as jobs from belfry.job")).rows).toEqual([{ jobs: 0 }]);
    await expect(second.connect()).rejects.toMatchObject({ code: "53300" });
    const row = "(at, caller, action, target, status, detail, trace) values (now(), 'ada', 'a', 't', 200, '{}', 't')";
    await first.query(`insert into belfry.audit ${row}`);
    await expect(first.query("delete from belfry.audit")).rejects.toMatchObject({ code: "42501" });
    // A handler connects as the role of the processes: it reads who did what, and adds nothing to it.
    await client.query("alter role belfry_app password 'app'");
    await app.connect();
    expect((await app.query("select caller from belfry.audit")).rows).toEqual([{ caller: "ada" }]);
    await expect(app.query(`insert into belfry.audit ${row}`)).rejects.toMatchObject({ code: "42501" });
  } finally {
    await Promise.all([first.end(), app.end()]);
  }
});

test("an owner that is refused and an administrator that is refused are the administrator's error, a server that is away is its own", async () => {
  const { as } = await managedServer();
  const options = { owner: as("belfry_owner", "owner"), apiConnections: 1 };
  const wrong = [as("belfry_admin", "wrong")];
  await expect(ensureDatabaseRoles({ ...options, administrators: wrong })).rejects.toThrow(/password was refused/);
  const away = { url: "postgresql://belfry_owner@127.0.0.1:1/belfry" };
  await expect(ensureDatabaseRoles({ ...options, owner: away, administrators: wrong })).rejects.toThrow(/ECONNREFUSED/);
});

const clientOf = ({ url }: { url: string }) => ({ connectionString: url });

test("a password that was asked for is used in place of the URL's own", async () => {
  const database = await blankDatabase();
  onTestFinished(() => database.close());
  const url = new URL(database.url);
  const right = decodeURIComponent(url.password);
  url.password = "";
  await expect(migrate({ url: url.href, password: async () => `not ${right}` })).rejects.toThrow(/password|auth/i);
  expect((await migrate({ url: url.href, password: async () => right })).version).toBeGreaterThan(0);
});
