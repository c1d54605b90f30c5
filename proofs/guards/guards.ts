import { type Removal, removeGuard } from "./removeGuard.ts"

export interface Guard {
  readonly name: string
  readonly file: string
  readonly breaking: (source: string) => string
  /** The test file that must fail without the guard. */
  readonly shownBy: string
}

/**
 * A location in the code and the code that replaces it when the guard is removed, or several such
 * pairs.
 */
type Changes = readonly [place: string, becomes: string, ...more: ReadonlyArray<string>]

/** Parses a location: `method: names in the guard`, or only the names. */
const removal = (place: string, becomes: string): Removal => {
  const [, inside, names = ""] = /^(?:(\w+): )?(.*)$/.exec(place) ?? []
  return { ...(inside === undefined ? {} : { inside }), has: names.split(" "), becomes }
}

/** Completes a server file's path. The paths of files in other packages are already complete. */
const inServer = (folder: "src" | "test", file: string) =>
  file.startsWith("packages/") ? file : `packages/server/${folder}/${file}`

const guardsOf = (
  file: string,
  tests: string,
  guards: Readonly<Record<string, Changes>>
): ReadonlyArray<Guard> =>
  Object.entries(guards).map(([name, [place, becomes, ...more]]) => ({
    name,
    file: inServer("src", `${file}.ts`),
    breaking: (source) => {
      const broken = removeGuard(source, removal(place, becomes))
      const [second, becomesToo = ""] = more
      return second === undefined ? broken : removeGuard(broken, removal(second, becomesToo))
    },
    shownBy: inServer("test", `${tests}.test.ts`)
  }))

const matrix = "adversarial/accessMatrix"
const sessions = "accounts/sessions/sessions"
const members = "accounts/members/members"
const channels = "notifications/channels"
const flood = "adversarial/flood"

const people = [
  guardsOf("accounts/auth/decideAccess", matrix, {
    "the scope of a key": ["scopes", "false"],
    "endpoints for JWTs only": ["decideAccess: JwtOnly", ""],
    "the workspace of a key": ["toLowerCase", "false"],
    "the membership of a user": ["decideAccess: NotFound", ""],
    "the role of a member": ["decideAccess: includesRole", "true"]
  }),
  guardsOf("accounts/auth/Auth", sessions, {
    "the session of a token": ["user_id claims", "false", "session expires_at", "false"]
  }),
  guardsOf("accounts/auth/Auth", "accounts/api-keys/usage", {
    "the networks of a key": ["isRefused InvalidApiKey", ""]
  }),
  guardsOf("accounts/api-keys/ApiKeyRepo", matrix, {
    "the revocation of a key": ["isActive: revoked_at", "true", "findByHashes: revoked_at", "TRUE"],
    "the expiry of a key": ["isActive: now expires_at", "true"]
  }),
  guardsOf("accounts/sessions/SessionsRepo", sessions, {
    "the end of a session": ["remove: id", "FALSE"]
  }),
  guardsOf("accounts/sessions/Logins", sessions, {
    "a refresh token used twice": ["isPrevious isRecent", "true"]
  }),
  guardsOf("accounts/sessions/Tokens", "accounts/sessions/Tokens", {
    "the spelling of a signature": ["strictSignature", ""],
    "who a token is for": ["audience", ""]
  }),
  guardsOf("accounts/totp/TotpRepo", "accounts/totp/totp", {
    "that a code works once": ["last_step", "TRUE"]
  }),
  guardsOf("accounts/throttle/Throttle", "accounts/sessions/login", {
    "the count of wrong passwords": ["row failures allowed", "false"]
  }),
  guardsOf("accounts/members/Members", members, {
    "the last owner": ["countOwners", "false"]
  }),
  guardsOf("accounts/members/InvitationsRepo", members, {
    "for whom an invitation is": ["findByToken: email", "TRUE"],
    "the end of an invitation": ["findByToken: expires_at", "TRUE"]
  })
]

const workspaceFilter = (tests: string) => (place: string) => {
  const [file = "", method = ""] = place.split(" ")
  const name = `the workspace in ${method} of ${file}`
  return guardsOf(file, tests, { [name]: [`${method}: workspace_id`, "TRUE"] })
}

/**
 * Statements with an id that could belong to another workspace. Statements that run only after one
 * of these are not listed, because no test could notice a missing filter.
 */
const workspaceFilters = [
  "tasks/TasksRepo findWhere",
  "tasks/TasksRepo findForUpdate",
  "accounts/api-keys/ApiKeyRepo find",
  "accounts/api-keys/ApiKeyRepo findForUpdate",
  "accounts/api-keys/ApiKeyRepo updateRevoked",
  "accounts/api-keys/ApiKeyRepo remove",
  "monitoring/MonitorTable findWhere",
  "monitoring/MonitorTable findForUpdate",
  "incidents/IncidentsRepo find",
  "notifications/channels/ChannelsRepo listWhere",
  "notifications/sending/DeliveriesRepo find",
  "tasks/queues/QueuesRepo findWhere",
  "workers/WorkersRepo find",
  "accounts/members/MembersRepo find",
  "accounts/members/InvitationsRepo remove"
].map(workspaceFilter("adversarial/foreignIds"))

/** Statements with a channel id. A test runs each of them with another workspace's channel. */
const channelFilters = [
  "notifications/channels/ChannelsRepo confirmByLink",
  "notifications/sending/DeliveriesRepo cancel"
].map(workspaceFilter("notifications/foreignChannels"))

const calls = [
  guardsOf("engine/transitions/finish/input", "engine/History", {
    "the fence of a lease": ["lease_owner IS DISTINCT", "TRUE"]
  }),
  guardsOf("packages/calls/src/egress/Egress", "packages/calls/test/egress/Egress", {
    "the addresses that a name resolves to": ["guardedLookup: isAddressAllowed", "true"],
    "addresses in URLs": ["isIP hostname 0", "true"]
  })
]

const requests = [
  guardsOf("http/request/RequestHead", "adversarial/ambiguousHttp", {
    "requests that can be read in two ways": [
      "isWellFormed: malformedConnections isUnambiguous",
      "true"
    ]
  }),
  guardsOf("http/fairness/Capacity", flood, {
    "how many requests are worked on": ["mayHold requests", "false"]
  }),
  guardsOf("http/fairness/Clients", flood, {
    "what one client may hold": ["mayHold: share", "true"]
  }),
  guardsOf("http/server/NodeServer", flood, { "one request of a connection": ["turns take", ""] }),
  guardsOf("http/fairness/UnsentResponses", flood, { "answers nobody reads": ["free 0", "false"] }),
  guardsOf("http/HttpServer", "adversarial/foreignPages", {
    "pages of other origins": ["pages refuses", ""],
    "names of other hosts": ["isAllowedHost misdirectedRequestResponse", ""]
  }),
  guardsOf("http/request/RequestBody", "http/request/bodies", {
    "how much a body may hold": ["withinBounds: problem undefined", "true"],
    "the size of a body": ["lengthOf maxBodySize", "", "size maxBodySize", "false"]
  }),
  guardsOf("http/request/Idempotency", "adversarial/idempotency", {
    "whose idempotency key it is": [
      "requesterOf",
      '{ ...requesterOf(principal), id: "00000000-0000-7000-8000-000000000000" }'
    ]
  }),
  guardsOf("core/Logging", "adversarial/logs", {
    "log lines": ["escapeUnsafe title", 'title ?? ""']
  })
]

const others = [
  guardsOf("monitoring/heartbeat/HeartbeatsRepo", "monitoring/heartbeat/simultaneousChanges", {
    "the version of a heartbeat": ["input version h", "TRUE"]
  }),
  guardsOf("notifications/settings/SettingsRepo", channels, {
    "the version of notification settings": ["update: version", "TRUE"]
  }),
  guardsOf("notifications/settings/Settings", channels, {
    "whether the channels of a rule are there": ["checkSettings: checkChannels", ""]
  }),
  guardsOf("notifications/sending/updateNextDeliveries", "notifications/foreignChannels", {
    "whose deliveries a channel sends": ["deliveries channels workspace_id", "TRUE"]
  }),
  guardsOf("notifications/channels/ChannelsRepo", channels, {
    "whose channels a rule names": ["findIds: workspace_id", "TRUE"]
  }),
  guardsOf("panel/pageRequests", "panel/session", {
    "the pages of the panel's session": ["rejectOtherPages: isFromOwnPage", "true"]
  }),
  guardsOf("billing/PaymentProvider", "billing/webhooks", {
    "the age of a bill's event": ["signedAt toleranceSeconds", ""]
  })
]

export const guards: ReadonlyArray<Guard> = [
  ...people,
  ...workspaceFilters,
  ...channelFilters,
  ...calls,
  ...others,
  ...requests
].flat()
