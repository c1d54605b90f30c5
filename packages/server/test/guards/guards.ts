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
  shownBy: string,
  ...replacements: ReadonlyArray<readonly [from: string, to: string]>
): Guard => ({
  name,
  file: `src/${file}`,
  breaking: (source) =>
    replacements.reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${name}: ${file} has no ${from}`)
      return text.replace(from, () => to)
    }, source),
  shownBy
})

const accessMatrix = "adversarial/accessMatrix.test.ts"
const decideAccess = "auth/decideAccess.ts"

const access = [
  guard("the scope of a key", decideAccess, accessMatrix, [
    "!caller.scopes.includes(access.scope)",
    "false"
  ]),
  guard("endpoints for JWTs only", decideAccess, accessMatrix, [
    'if (access.kind === "jwt" || access.kind === "public") return new JwtOnly()',
    ""
  ]),
  guard("the workspace of a key", decideAccess, accessMatrix, [
    "workspace.id.toLowerCase() !== caller.workspace_id",
    "false"
  ]),
  guard("the membership of a user", decideAccess, accessMatrix, ["workspace.is_member", "true"])
]

const credentials = [
  guard("the session of a token", "auth/Auth.ts", "auth/sessions.test.ts", [
    `session === undefined ||
          session.user_id !== claims.user_id ||
          session.expires_at <= now`,
    "session === undefined"
  ]),
  guard("the end of a session", "auth/SessionsRepo.ts", "auth/sessions.test.ts", [
    `DELETE FROM sessions
            WHERE id = \${id}
              AND user_id = \${userId}`,
    `SELECT id FROM sessions
            WHERE id = \${id}
              AND user_id = \${userId}`
  ]),
  guard(
    "the revocation of a key",
    "api-keys/ApiKeyRepo.ts",
    accessMatrix,
    ["row.revoked_at === null &&", ""],
    ["AND revoked_at IS NULL`).pipe(", "`).pipe("]
  ),
  guard("the expiry of a key", "api-keys/ApiKeyRepo.ts", accessMatrix, [
    "row.expires_at === null || now < row.expires_at",
    "true"
  ]),
  guard("the spelling of a signature", "auth/Tokens.ts", "auth/Tokens.test.ts", [
    'if (!isSignedAsOurs.test(token)) throw new Error("signed in another spelling")',
    ""
  ]),
  guard("who a token is for", "auth/Tokens.ts", "auth/Tokens.test.ts", ["audience: issuer,", ""]),
  guard("a refresh token used twice", "auth/Logins.ts", "auth/sessions.test.ts", [
    "if (isPrevious && isRecent) return session",
    "return session"
  ]),
  guard("the count of wrong passwords", "auth/LoginThrottle.ts", "auth/login.test.ts", [
    "row.failures > allowed.failures",
    "false"
  ])
]

/** Statements that name a resource by its id, which may be one of another workspace. */
const workspaceFilters = (
  [
    ["cron/CronTasksRepo.ts", "find"],
    ["cron/CronTasksRepo.ts", "findForUpdate"],
    ["cron/CronTasksRepo.ts", "remove"],
    ["delayed/DelayedTasksRepo.ts", "find"],
    ["delayed/DelayedTasksRepo.ts", "findForUpdate"],
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
  guard("the fence of a lease", "runner/Settle.ts", "runner/History.test.ts", [
    `AND runs.lease_owner IS NOT DISTINCT FROM input.lease_owner
        AND input.status IS NOT NULL`,
    "AND input.status IS NOT NULL"
  ]),
  guard("the addresses that a name resolves to", "runner/Egress.ts", "runner/Egress.test.ts", [
    ".filter((address) => isAllowed(address, allow))",
    ""
  ]),
  guard("addresses in URLs", "runner/Egress.ts", "runner/Egress.test.ts", [
    "isIP(target.hostname) === 0 ? undefined : refuse(target.hostname, options.allow)",
    "undefined as EgressRefused | undefined"
  ])
]

const requests = [
  guard(
    "requests that can be read in two ways",
    "platform/RequestHead.ts",
    "adversarial/ambiguousHttp.test.ts",
    ["if (!spoiled.has(message.socket) && isUnambiguous(message)) return true", "return true"]
  ),
  guard("how many requests are worked on", "platform/Capacity.ts", "adversarial/flood.test.ts", [
    '!client.mayHold("requests", this.limits.requests - this.requests)',
    "false"
  ]),
  guard("what one client may hold", "platform/Clients.ts", "adversarial/flood.test.ts", [
    "return this[what] < share * (share * free - this.address[what])",
    "return free > 0"
  ]),
  guard("one request of a connection", "platform/NodeServer.ts", "adversarial/flood.test.ts", [
    "if (!this.#turns.take(event, request, answer)) return true",
    ""
  ]),
  guard("answers that nobody reads", "platform/UnsentAnswers.ts", "adversarial/flood.test.ts", [
    "while (this.free < 0) this.#giveUpOne()",
    ""
  ]),
  guard("pages of other origins", "platform/HttpServer.ts", "adversarial/foreignPages.test.ts", [
    "if (pages.refuses(request)) return originRefused",
    ""
  ]),
  guard("names of other hosts", "platform/HttpServer.ts", "adversarial/foreignPages.test.ts", [
    "if (!isAllowedHost(message.headers.host) && !probes.has(request.url)) return misdirectedRequest",
    ""
  ]),
  guard("how much a body may hold", "platform/RequestBody.ts", "platform/bodies.test.ts", [
    "const message = excessOf(text)",
    "const message = excessOf('')"
  ]),
  guard(
    "the size of a body",
    "platform/RequestBody.ts",
    "platform/bodies.test.ts",
    ["if (length > maxBodySize) return Effect.die(new PayloadTooLarge())", ""],
    ["size > maxBodySize ? Effect.die(new PayloadTooLarge()) : place.take", "place.take"]
  ),
  guard(
    "whose idempotency key it is",
    "platform/Idempotency.ts",
    "adversarial/idempotency.test.ts",
    ["callerId(yield* Caller)", '(yield* Caller, "00000000-0000-7000-8000-000000000000")']
  ),
  guard("the lines of the log", "platform/Logging.ts", "adversarial/logs.test.ts", [
    "title?.replace(unsafe, escaped)",
    "title"
  ])
]

export const guards: ReadonlyArray<Guard> = [
  ...access,
  ...credentials,
  ...workspaceFilters,
  ...engine,
  ...requests
]
