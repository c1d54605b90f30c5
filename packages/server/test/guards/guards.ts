export interface Guard {
  readonly name: string
  readonly file: string
  /** What the file is without the guard. */
  readonly breaking: (source: string) => string
  /** The tests that miss it. */
  readonly shownBy: string
}

const guard = (
  name: string,
  file: string,
  [from, to]: readonly [from: string, to: string],
  shownBy: string
): Guard => ({
  name,
  file: `src/${file}`,
  breaking: (source) => {
    if (!source.includes(from)) throw new Error(`${name}: ${file} has no ${from}`)
    return source.replace(from, () => to)
  },
  shownBy
})

const accessMatrix = "adversarial/accessMatrix.test.ts"

const access = [
  guard(
    "the scope of a key",
    "auth/decideAccess.ts",
    ["!caller.scopes.includes(access.scope)", "false"],
    accessMatrix
  ),
  guard(
    "endpoints for JWTs only",
    "auth/decideAccess.ts",
    ['if (access.kind === "jwt" || access.kind === "public") return new JwtOnly()', ""],
    accessMatrix
  ),
  guard(
    "the workspace of a key",
    "auth/decideAccess.ts",
    ["workspace.id.toLowerCase() !== caller.workspace_id", "false"],
    accessMatrix
  ),
  guard(
    "the membership of a user",
    "auth/decideAccess.ts",
    ["workspace.is_member", "true"],
    accessMatrix
  )
]

const credentials = [
  guard(
    "the session of a token",
    "auth/Auth.ts",
    [
      `session === undefined ||
          session.user_id !== claims.user_id ||
          session.expires_at <= now`,
      "session === undefined"
    ],
    "auth/sessions.test.ts"
  ),
  guard(
    "the end of a session",
    "auth/SessionsRepo.ts",
    [
      `DELETE FROM sessions
            WHERE id = \${id}
              AND user_id = \${userId}`,
      `SELECT id FROM sessions
            WHERE id = \${id}
              AND user_id = \${userId}`
    ],
    "auth/sessions.test.ts"
  ),
  guard(
    "the revocation of a key",
    "api-keys/ApiKeyRepo.ts",
    ["row.revoked_at === null &&", ""],
    accessMatrix
  ),
  guard(
    "the expiry of a key",
    "api-keys/ApiKeyRepo.ts",
    ["row.expires_at === null || now < row.expires_at", "true"],
    accessMatrix
  ),
  guard(
    "the form of a key, before the database is asked",
    "auth/Auth.ts",
    ["if (!isWellFormed(key)) return yield* new InvalidApiKey()", ""],
    "auth/bearer.test.ts"
  ),
  guard(
    "the algorithm of a token",
    "auth/Tokens.ts",
    ['algorithms: ["HS256"],', ""],
    "auth/Tokens.test.ts"
  ),
  guard("who a token is for", "auth/Tokens.ts", ["audience: issuer,", ""], "auth/Tokens.test.ts"),
  guard(
    "a refresh token used twice",
    "auth/Logins.ts",
    ["if (isPrevious && isRecent) return session", "return session"],
    "auth/sessions.test.ts"
  ),
  guard(
    "the count of wrong passwords",
    "auth/LoginThrottle.ts",
    ["row.failures > limit", "false"],
    "auth/login.test.ts"
  )
]

/** Statements that name a resource by its id, which may be one of another workspace. */
const workspaceFilters = (
  [
    ["cron/CronTasksRepo.ts", "find"],
    ["cron/CronTasksRepo.ts", "findForUpdate"],
    ["cron/CronTasksRepo.ts", "remove"],
    ["delayed/DelayedTasksRepo.ts", "find"],
    ["delayed/DelayedTasksRepo.ts", "findForUpdate"],
    ["delayed/DelayedTasksRepo.ts", "remove"],
    ["chains/ChainsRepo.ts", "find"],
    ["chains/ChainsRepo.ts", "findForUpdate"],
    ["chains/ChainsRepo.ts", "remove"],
    ["api-keys/ApiKeyRepo.ts", "find"],
    ["api-keys/ApiKeyRepo.ts", "claim"],
    ["api-keys/ApiKeyRepo.ts", "updateRevoked"],
    ["api-keys/ApiKeyRepo.ts", "remove"]
  ] as const
).map(([file, method]): Guard => {
  const statement = new RegExp(`( {8}${method}: [^]*?)workspace_id = \\$\\{workspaceId\\}`)
  return {
    name: `the workspace in ${method} of ${file}`,
    file: `src/${file}`,
    breaking: (source) => source.replace(statement, "$1${workspaceId}::uuid IS NOT NULL"),
    shownBy: "adversarial/foreignIds.test.ts"
  }
})

const engine = [
  guard(
    "the fence of a lease",
    "runner/Settle.ts",
    [
      `AND runs.lease_owner IS NOT DISTINCT FROM input.lease_owner
        AND input.status IS NOT NULL`,
      "AND input.status IS NOT NULL"
    ],
    "runner/Nodes.test.ts"
  ),
  guard(
    "one run a slot",
    "runner/Fire.ts",
    [
      `UPDATE tasks
      SET next_fire_at = fires.next_fire_at`,
      `UPDATE tasks
      SET next_fire_at = tasks.next_fire_at`
    ],
    "runner/Fire.test.ts"
  ),
  guard(
    "the addresses that a name resolves to",
    "runner/Egress.ts",
    [".filter((address) => isAllowed(address, allow))", ""],
    "runner/Egress.test.ts"
  ),
  guard(
    "addresses in URLs",
    "runner/Egress.ts",
    [
      "isIP(target.hostname) === 0 ? undefined : refuse(target.hostname, options.allow)",
      "undefined as EgressRefused | undefined"
    ],
    "runner/Egress.test.ts"
  )
]

const requests = [
  guard(
    "requests that can be read in two ways",
    "platform/RequestHead.ts",
    ["if (!spoiled.has(message.socket) && isUnambiguous(message)) return true", "return true"],
    "adversarial/ambiguousHttp.test.ts"
  ),
  guard(
    "how many requests are worked on",
    "platform/Capacity.ts",
    ["this.requests >= this.limits.requests", "false"],
    "adversarial/flood.test.ts"
  ),
  guard(
    "the size of a body",
    "platform/RequestBody.ts",
    ["size > maxBodySize", "false"],
    "platform/bodies.test.ts"
  ),
  guard(
    "whose idempotency key it is",
    "platform/Idempotency.ts",
    ["`${callerId(yield* Caller)} ${operation}`", "`${(yield* Caller, operation)}`"],
    "adversarial/idempotency.test.ts"
  ),
  guard(
    "the lines of the log",
    "platform/Logging.ts",
    ["title?.replace(unsafe, escaped)", "title"],
    "adversarial/logs.test.ts"
  )
]

export const guards: ReadonlyArray<Guard> = [
  ...access,
  ...credentials,
  ...workspaceFilters,
  ...engine,
  ...requests
]
