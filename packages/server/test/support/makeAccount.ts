import { refreshTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { SessionId, UserId } from "@scheduling/domain/shared/Ids"
import { Clock, DateTime, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes, randomUUID } from "node:crypto"
import {
  canonicalJson,
  createMac,
  hashDetails,
  type AuditEventContent,
  attestedUnlinkedEvent
} from "../../src/accounts/audit/auditChainHashes.ts"
import { type Argon2Parameters, loadArgon2 } from "../../src/accounts/passwords/argon2.ts"
import { deriveLane } from "../../src/accounts/auth/deriveLane.ts"
import { Tokens } from "../../src/accounts/sessions/Tokens.ts"
import { Ids } from "../../src/core/Ids.ts"
import { makeSecrets, seal, Secrets } from "../../src/core/Secrets.ts"
import { type Member, password, randomEmail, randomIp } from "./people.ts"

/**
 * Creates a logged-in account with its first workspace in one statement. Registering and logging in
 * over HTTP take 25 statements, and most tests need just any account. `makeAccount.test.ts` checks
 * that the rows are the same.
 */
export const accountMaker = Effect.fnUntraced(function* (options: {
  readonly appSecret: Redacted.Redacted
  readonly hashCost: Argon2Parameters
  /** The clock of the node that serves the account. */
  readonly clock: Clock.Clock
}) {
  const sql = yield* SqlClient.SqlClient
  const secrets = makeSecrets([options.appSecret])
  const tokens = yield* Effect.provide(
    Tokens,
    Layer.provide(Tokens.layer, [Ids.layer, Layer.succeed(Secrets, secrets)]),
    { local: true }
  )
  const ids = yield* Effect.provide(Ids, Ids.layer, { local: true })
  // The node's ids must sort after these ids, even within the same millisecond.
  const nextId = Effect.provideService(ids.next, Clock.Clock, {
    ...options.clock,
    currentTimeMillisUnsafe: () => options.clock.currentTimeMillisUnsafe() - 1
  })
  const auditRing = secrets.keys("audit-chain")
  const [laneKey] = secrets.keys("lane")

  return Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    const ip = randomIp()
    const email = randomEmail()
    const user_id = UserId.make(yield* nextId)
    const lane = deriveLane(laneKey, user_id, ip)
    const user = {
      id: user_id,
      email,
      password_hash: yield* Effect.promise(() => hashedWith(options.hashCost)),
      lane,
      created_at: now
    }
    const request_id = randomUUID()
    const recorded = (
      event: Omit<AuditEventContent, "details_hash">,
      details: Readonly<Record<string, string>> = {}
    ) => {
      const details_salt = randomBytes(16).toString("base64url")
      const content = {
        ...event,
        details_hash: hashDetails(details_salt, request_id, canonicalJson(details))
      }
      return {
        ...content,
        request_id,
        details: JSON.stringify(details),
        details_salt,
        mac: createMac(auditRing, attestedUnlinkedEvent(content))
      }
    }
    const registered = {
      id: yield* nextId,
      action: "account.registered",
      workspace_id: null,
      user_id,
      actor_id: user_id,
      subject_id: null,
      ip,
      created_at: now
    }
    const workspace_id = yield* nextId
    const workspace = {
      id: workspace_id,
      name: `${email.slice(0, email.indexOf("@"))}'s workspace`,
      lane,
      created_at: now
    }
    const signingSecret = {
      id: yield* nextId,
      workspace_id,
      sealed_secret: seal(
        secrets.keys("signing-secret"),
        workspace_id,
        `whsec_${randomBytes(32).toString("base64")}`
      ),
      created_at: now
    }
    const workspaceCreated = {
      ...registered,
      id: yield* nextId,
      action: "workspace.created",
      workspace_id,
      user_id: null,
      subject_id: workspace_id
    }
    const session = {
      id: SessionId.make(yield* nextId),
      user_id,
      lane,
      user_agent: null,
      ip,
      generation: 1,
      rotated_at: now,
      expires_at: new Date(now.getTime() + refreshTokenSeconds * 1000),
      created_at: now
    }
    const started = {
      ...registered,
      id: yield* nextId,
      action: "session.started",
      subject_id: session.id
    }
    yield* sql`
      WITH
        account AS (INSERT INTO users ${sql.insert(user)}),
        workspace AS (INSERT INTO workspaces ${sql.insert(workspace)}),
        membership AS (
          INSERT INTO memberships
          ${sql.insert({ user_id, workspace_id, role: "owner", created_at: now })}
        ),
        seat AS (
          INSERT INTO usage_days (workspace_id, day, most_seats, last_seats)
          VALUES (${workspace_id}, (${now}::timestamptz AT TIME ZONE 'UTC')::date, 1, 1)
        ),
        secret AS (INSERT INTO signing_secrets ${sql.insert(signingSecret)}),
        session AS (INSERT INTO sessions ${sql.insert(session)})
      INSERT INTO audit_events ${sql.insert([
        recorded(registered),
        recorded(started),
        recorded(workspaceCreated, { name: workspace.name })
      ])}`
    const pair = yield* tokens.issue({
      user_id,
      session_id: session.id,
      generation: session.generation,
      rotated_at: now
    })
    return {
      email,
      user_id,
      workspace: `/v1/workspaces/${workspace_id}`,
      workspace_id,
      access_token: Redacted.value(pair.access_token),
      refresh_token: Redacted.value(pair.refresh_token)
    } satisfies Member
  }).pipe(Effect.orDie, Effect.provideService(Clock.Clock, options.clock))
})

const hashes = new Map<number, Promise<string>>()

/** Hashes the password. All accounts with the same cost parameters share one hash. */
const hashedWith = (cost: Argon2Parameters): Promise<string> => {
  const known = hashes.get(cost.memoryCost)
  if (known !== undefined) return known
  const made = loadArgon2().then(({ hash }) => hash(password, cost))
  hashes.set(cost.memoryCost, made)
  return made
}
