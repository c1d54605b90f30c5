export interface Guard {
  readonly name: string
  readonly file: string
  /** Returns the file without the guard. */
  readonly breaking: (source: string) => string
  /** The tests that must notice. */
  readonly shownBy: string
}

const guard = (
  name: string,
  file: string,
  shownBy: string,
  ...replacements: ReadonlyArray<readonly [from: string, to: string]>
): Guard => ({
  name,
  file: inServer("src", file),
  breaking: (source) =>
    replacements.reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${name}: ${file} has no ${from}`)
      return text.replace(from, () => to)
    }, source),
  shownBy: inServer("test", shownBy)
})

/** Most guards are in the server. Other packages are named. */
const inServer = (folder: "src" | "test", file: string) =>
  file.startsWith("packages/") ? file : `packages/server/${folder}/${file}`

const accessMatrix = "adversarial/accessMatrix.test.ts"
const decideAccess = "accounts/auth/decideAccess.ts"

const access = [
  guard("the scope of a key", decideAccess, accessMatrix, [
    "!principal.scopes.includes(access.scope)",
    "false"
  ]),
  guard("endpoints for JWTs only", decideAccess, accessMatrix, [
    'if (access.kind === "jwt" || access.kind === "public") return new JwtOnly()',
    ""
  ]),
  guard("the workspace of a key", decideAccess, accessMatrix, [
    "workspace.id.toLowerCase() !== principal.workspace_id",
    "false"
  ]),
  guard("the membership of a user", decideAccess, accessMatrix, [
    'if (workspace.role === null) return new NotFound({ resource: "workspace" })',
    "if (workspace.role === null) return undefined"
  ]),
  guard("the role of a member", decideAccess, accessMatrix, [
    "required === null || includesRole(workspace.role, required)",
    "true"
  ])
]

const credentials = [
  guard("the session of a token", "accounts/auth/Auth.ts", "accounts/sessions/sessions.test.ts", [
    `session === undefined ||
          session.user_id !== claims.user_id ||
          session.expires_at <= now`,
    "session === undefined"
  ]),
  guard(
    "the end of a session",
    "accounts/sessions/SessionsRepo.ts",
    "accounts/sessions/sessions.test.ts",
    [
      `DELETE FROM sessions
            WHERE id = \${id}
              AND user_id = \${userId}`,
      `SELECT id FROM sessions
            WHERE id = \${id}
              AND user_id = \${userId}`
    ]
  ),
  guard(
    "the revocation of a key",
    "accounts/api-keys/ApiKeyRepo.ts",
    accessMatrix,
    ["row.revoked_at === null &&", ""],
    ["AND revoked_at IS NULL`).pipe(", "`).pipe("]
  ),
  guard("the networks of a key", "accounts/auth/Auth.ts", "accounts/api-keys/usage.test.ts", [
    "if (isRefused) return Effect.fail(new InvalidApiKey())",
    ""
  ]),
  guard("that a code works once", "accounts/totp/TotpRepo.ts", "accounts/totp/totp.test.ts", [
    "AND last_step < ${step}",
    ""
  ]),
  guard("the last owner", "accounts/members/Members.ts", "accounts/members/members.test.ts", [
    "countOwners(workspaceId)) < 2",
    "countOwners(workspaceId)) < 0"
  ]),
  guard("the expiry of a key", "accounts/api-keys/ApiKeyRepo.ts", accessMatrix, [
    "row.expires_at === null || now < row.expires_at",
    "true"
  ]),
  guard(
    "the spelling of a signature",
    "accounts/sessions/Tokens.ts",
    "accounts/sessions/Tokens.test.ts",
    ['if (!isSignedAsOurs.test(token)) throw new Error("the signature has another spelling")', ""]
  ),
  guard("who a token is for", "accounts/sessions/Tokens.ts", "accounts/sessions/Tokens.test.ts", [
    "audience: issuer,",
    ""
  ]),
  guard(
    "a refresh token used twice",
    "accounts/sessions/Logins.ts",
    "accounts/sessions/sessions.test.ts",
    ["if (isPrevious && isRecent) return session", "return session"]
  ),
  guard(
    "the count of wrong passwords",
    "accounts/throttle/Throttle.ts",
    "accounts/sessions/login.test.ts",
    ["row.failures > allowed.failures", "false"]
  )
]

function workspaceFilter(file: string, method: string, shownBy: string): Guard {
  const statement = new RegExp(
    `(${method}(?::| =) Effect[^]*?)(?:\\w+\\.)?workspace_id = (\\$\\{[\\w.]+\\})`
  )
  return {
    name: `the workspace in ${method} of ${file}`,
    file: inServer("src", file),
    breaking: (source) => source.replace(statement, "$1$2::uuid IS NOT NULL"),
    shownBy: inServer("test", shownBy)
  }
}

/**
 * Statements that name a resource by an id, which may belong to another workspace. Those that only
 * run after such a statement are not listed: nobody would notice.
 */
const workspaceFilters = (
  [
    ["tasks/TasksRepo.ts", "findWhere"],
    ["tasks/TasksRepo.ts", "findForUpdate"],
    ["tasks/TasksRepo.ts", "remove"],
    ["accounts/api-keys/ApiKeyRepo.ts", "find"],
    ["accounts/api-keys/ApiKeyRepo.ts", "findForUpdate"],
    ["accounts/api-keys/ApiKeyRepo.ts", "updateRevoked"],
    ["accounts/api-keys/ApiKeyRepo.ts", "remove"],
    ["monitoring/MonitorRows.ts", "findWhere"],
    ["monitoring/MonitorRows.ts", "findForUpdate"],
    ["monitoring/incidents/IncidentsRepo.ts", "find"],
    ["notifications/channels/ChannelsRepo.ts", "listWhere"],
    ["notifications/sending/DeliveriesRepo.ts", "find"],
    ["tasks/queues/QueuesRepo.ts", "findWhere"],
    ["workers/WorkersRepo.ts", "find"],
    ["accounts/members/MembersRepo.ts", "find"],
    ["accounts/members/InvitationsRepo.ts", "remove"]
  ] as const
).map(([file, method]) => workspaceFilter(file, method, "adversarial/foreignIds.test.ts"))

/** Such statements too, which a test runs with the id of a channel of another workspace. */
const channelFilters = (
  [
    ["notifications/channels/ChannelsRepo.ts", "confirmByLink"],
    ["notifications/sending/DeliveriesRepo.ts", "cancel"]
  ] as const
).map(([file, method]) => workspaceFilter(file, method, "notifications/foreignChannels.test.ts"))

const engine = [
  guard("the fence of a lease", "engine/transitions/finish/input.ts", "engine/History.test.ts", [
    "AND runs.lease_owner IS NOT DISTINCT FROM input.lease_owner",
    ""
  ]),
  guard(
    "the addresses that a name resolves to",
    "packages/calls/src/egress/Egress.ts",
    "packages/calls/test/egress/Egress.test.ts",
    [".filter((address) => isAllowed(address, allow))", ""]
  ),
  guard(
    "addresses in URLs",
    "packages/calls/src/egress/Egress.ts",
    "packages/calls/test/egress/Egress.test.ts",
    [
      "isIP(hostname) === 0 ? undefined : refuse(hostname, allow)",
      "undefined as EgressRefused | undefined"
    ]
  )
]

const requests = [
  guard(
    "requests that can be read in two ways",
    "http/request/RequestHead.ts",
    "adversarial/ambiguousHttp.test.ts",
    ["if (!spoiled.has(message.socket) && isUnambiguous(message)) return true", "return true"]
  ),
  guard(
    "how many requests are worked on",
    "http/fairness/Capacity.ts",
    "adversarial/flood.test.ts",
    ['!client.mayHold("requests", this.limits.requests - this.requests)', "false"]
  ),
  guard("what one client may hold", "http/fairness/Clients.ts", "adversarial/flood.test.ts", [
    "return this[what] < share * (share * free - this.address[what])",
    "return free > 0"
  ]),
  guard("one request of a connection", "http/server/NodeServer.ts", "adversarial/flood.test.ts", [
    "if (!this.#turns.take(event, request, answer)) return true",
    ""
  ]),
  guard(
    "answers that nobody reads",
    "http/fairness/UnsentAnswers.ts",
    "adversarial/flood.test.ts",
    ["while (this.free < 0) this.#giveUpOne()", ""]
  ),
  guard("pages of other origins", "http/HttpServer.ts", "adversarial/foreignPages.test.ts", [
    "if (pages.refuses(request)) return originRefused",
    ""
  ]),
  guard("names of other hosts", "http/HttpServer.ts", "adversarial/foreignPages.test.ts", [
    "if (!isAllowedHost(message.headers.host) && !probes.has(request.url)) return misdirectedRequest",
    ""
  ]),
  guard("how much a body may hold", "http/request/RequestBody.ts", "http/request/bodies.test.ts", [
    "const message = excessOf(text)",
    "const message = excessOf('')"
  ]),
  guard(
    "the size of a body",
    "http/request/RequestBody.ts",
    "http/request/bodies.test.ts",
    ["if (lengthOf(request) > maxBodySize) return Effect.die(new PayloadTooLarge())", ""],
    ["size > maxBodySize ? Effect.die(new PayloadTooLarge()) : place.take", "place.take"]
  ),
  guard(
    "whose idempotency key it is",
    "http/request/Idempotency.ts",
    "adversarial/idempotency.test.ts",
    ["principalId(principal)", '"00000000-0000-7000-8000-000000000000"']
  ),
  guard("the lines of the log", "core/Logging.ts", "adversarial/logs.test.ts", [
    'inert(title ?? "")',
    'title ?? ""'
  ])
]

const families = [
  guard(
    "the version of a heartbeat",
    "monitoring/heartbeat/HeartbeatsRepo.ts",
    "monitoring/heartbeat/Races.test.ts",
    [" AND input.version = h.version", ""]
  ),
  guard(
    "the version of notification settings",
    "notifications/settings/SettingsRepo.ts",
    "notifications/channels.test.ts",
    ["AND version = ${version}", ""]
  ),
  guard(
    "whether the channels of a rule are there",
    "notifications/settings/Settings.ts",
    "notifications/channels.test.ts",
    ["yield* checkChannels(workspaceId, input)", ""]
  ),
  guard(
    "whose deliveries a channel sends",
    "notifications/sending/updateNext.ts",
    "notifications/foreignChannels.test.ts",
    ["AND deliveries.workspace_id = channels.workspace_id", ""]
  ),
  guard(
    "whose channels a rule names",
    "notifications/channels/ChannelsRepo.ts",
    "notifications/channels.test.ts",
    [
      `WHERE workspace_id = \${workspaceId}
              AND id = ANY`,
      `WHERE \${workspaceId}::uuid IS NOT NULL
              AND id = ANY`
    ]
  ),
  guard(
    "for whom an invitation is",
    "accounts/members/InvitationsRepo.ts",
    "accounts/members/members.test.ts",
    ["AND email = ${email}", ""]
  ),
  guard(
    "the end of an invitation",
    "accounts/members/InvitationsRepo.ts",
    "accounts/members/members.test.ts",
    [
      `AND email = \${email}
              AND expires_at > \${now}`,
      "AND email = ${email}"
    ]
  ),
  guard("the pages of the panel's session", "panel/sessionRoutes.ts", "panel/session.test.ts", [
    "isOwnPage(headers) ? answer : respond(new OriginRefused())",
    "isOwnPage(headers) || true ? answer : respond(new OriginRefused())"
  ]),
  guard("the age of a bill's event", "billing/Provider.ts", "billing/webhooks.test.ts", [
    "if (signedAt(signature) > nowMs + toleranceSeconds * 1_000) return undefined",
    ""
  ])
]

export const guards: ReadonlyArray<Guard> = [
  ...access,
  ...credentials,
  ...workspaceFilters,
  ...channelFilters,
  ...engine,
  ...families,
  ...requests
]
