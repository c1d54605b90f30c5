import { NotFoundError, type SchedulingClient } from "@scheduling/sdk"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { env } from "node:process"
import { isDeepStrictEqual } from "node:util"
import {
  type Command,
  CommandError,
  exitStatus,
  type CommandArguments,
  type Option,
  UsageError,
  requiredArgument
} from "../Command.ts"
import { formatCell, printNote, print, printJson, printTable } from "../output.ts"
import { parseObject, readText, toYaml } from "../readInput.ts"
import { ifFound, makeClient } from "../session.ts"

type Fields = Readonly<Record<string, unknown>>
type Action =
  | "list"
  | "get"
  | "create"
  | "edit"
  | "delete"
  | "pause"
  | "resume"
  | "cancel"
  | "acknowledge"
  | "close"
  | "revoke"

/** A kind of record, with its paths, columns and commands. */
interface RecordKind {
  /** The kind's name on the command line. */
  readonly name: string
  readonly singular: string
  /** The path below the workspace. */
  readonly path: string
  readonly columns: ReadonlyArray<string>
  readonly actions: ReadonlyArray<Action>
  /** A record's key in the examples. */
  readonly example: string
  /** True if the kind's paths accept `key:<key>`. */
  readonly hasKeys: boolean
  /** The field at the end of a record's path, if the record is created and changed with a PUT. */
  readonly pathField?: "key" | "slug"
  /** The field with a record's name. `name` when absent. */
  readonly nameField?: "title"
}

const common = ["list", "get", "create", "edit", "delete"] as const
const pausable = [...common, "pause", "resume"] as const

const monitors: RecordKind = {
  name: "monitors",
  singular: "a monitor",
  path: "monitors",
  columns: ["kind", "key", "name", "status", "last_change_at", "next_check_at"],
  actions: pausable,
  example: "backup",
  hasKeys: true
}

const recordKinds: ReadonlyArray<RecordKind> = [
  {
    name: "cron",
    singular: "a cron task",
    path: "cron",
    columns: ["key", "name", "schedule", "timezone", "status", "next_run_at"],
    actions: pausable,
    example: "reports:nightly",
    hasKeys: true
  },
  {
    name: "delayed",
    singular: "a delayed task",
    path: "delayed",
    columns: ["key", "name", "url", "status", "run_at"],
    actions: common,
    example: "trial:ada",
    hasKeys: true
  },
  {
    name: "chains",
    singular: "a chain",
    path: "chains",
    columns: ["key", "name", "schedule", "status", "next_run_at"],
    actions: pausable,
    example: "day:close",
    hasKeys: true
  },
  {
    name: "queues",
    singular: "a queue",
    path: "queues",
    columns: [
      "key",
      "name",
      "max_concurrency",
      "rate_per_second",
      "paused",
      "running",
      "waiting",
      "waiting_since"
    ],
    actions: pausable,
    example: "billing",
    hasKeys: true
  },
  monitors,
  {
    name: "channels",
    singular: "a notification channel",
    path: "notifications/channels",
    columns: ["key", "name", "kind", "paused", "confirmed"],
    actions: common,
    example: "ops",
    hasKeys: true
  },
  {
    name: "escalations",
    singular: "an escalation policy",
    path: "escalations",
    columns: ["key", "name", "repeat_count", "repeat_after_seconds"],
    actions: common,
    example: "on-call",
    hasKeys: true,
    pathField: "key"
  },
  {
    name: "maintenance",
    singular: "a maintenance window",
    path: "maintenance",
    columns: ["key", "name", "is_active", "next_starts_at", "schedule", "duration_seconds"],
    actions: common,
    example: "db-upgrade",
    hasKeys: true,
    pathField: "key"
  },
  {
    name: "status-pages",
    singular: "a status page",
    path: "status-pages",
    columns: ["slug", "title", "published", "has_password"],
    actions: common,
    example: "acme",
    hasKeys: true,
    pathField: "slug",
    nameField: "title"
  },
  {
    name: "incidents",
    singular: "an incident",
    path: "incidents",
    columns: ["id", "subject", "status", "opened_at", "closed_at", "cause"],
    actions: ["list", "get", "acknowledge", "close"],
    example: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
    hasKeys: false
  },
  {
    name: "executions",
    singular: "an execution",
    path: "executions",
    columns: ["id", "kind", "status", "scheduled_for", "duration_ms", "status_code"],
    actions: ["list", "get", "cancel"],
    example: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
    hasKeys: false
  },
  {
    name: "keys",
    singular: "an API key",
    path: "api-keys",
    columns: ["id", "name", "key_prefix", "scopes", "expires_at", "is_active"],
    actions: ["list", "get", "create", "revoke", "delete"],
    example: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
    hasKeys: false
  },
  {
    name: "workers",
    singular: "a worker",
    path: "workers",
    columns: ["id", "name", "labels", "status", "last_seen_at", "version"],
    actions: ["list", "get", "create", "delete", "pause", "resume"],
    example: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
    hasKeys: false
  },
  {
    name: "secrets",
    singular: "a secret",
    path: "secrets",
    columns: ["name", "allowed_hosts", "description", "value_set_at"],
    actions: ["list"],
    example: "API_TOKEN",
    hasKeys: false
  }
]

const base = "/v1/workspaces/{workspace_id}"

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const json: Option = { description: "Prints JSON. Lists are printed as one object per line." }

const file: Option = {
  short: "f",
  value: "FILE",
  description: "YAML or JSON with the fields. Standard input (`-`) when absent."
}

interface Listed {
  readonly data: ReadonlyArray<Fields>
  readonly next_cursor: string | null
}

const listPages = async function* (client: SchedulingClient, path: string, query: Fields) {
  let cursor: string | undefined
  do {
    const page: Listed = await client.request("GET", `${base}/${path}`, {
      query: { ...query, cursor } as Record<string, string | number | undefined>
    })
    yield* page.data
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}

const first = async (client: SchedulingClient, path: string, query: Fields) => {
  for await (const record of listPages(client, path, { ...query, limit: 2 })) return record
  return undefined
}

/** Returns the path of the record with this id, key or name. */
const pathOf = async (
  client: SchedulingClient,
  recordKind: RecordKind,
  word: string
): Promise<string> => {
  if (recordKind === monitors) return monitorPath(client, word)
  if (recordKind.pathField !== undefined)
    return fieldPath(client, recordKind, recordKind.pathField, word)
  if (uuid.test(word) || !recordKind.hasKeys)
    return `${recordKind.path}/${encodeURIComponent(word)}`
  const byKey = await first(client, recordKind.path, { key: word }).catch(() => undefined)
  const found = byKey ?? (await byName(client, recordKind, word))
  return `${recordKind.path}/${String(found["id"])}`
}

/** Returns a monitor's path. All monitors are in one list, but each kind has its own path. */
const monitorPath = async (client: SchedulingClient, word: string): Promise<string> => {
  const query = uuid.test(word) ? { monitor_ids: word } : { key: word }
  const known = await first(client, "monitors", query).catch(() => undefined)
  const found = known ?? (await byName(client, monitors, word))
  return `monitors/${String(found["kind"])}/${String(found["id"])}`
}

/** Returns the path of a record whose path ends with its key or slug. Their lists are short. */
const fieldPath = async (
  client: SchedulingClient,
  recordKind: RecordKind,
  field: string,
  word: string
): Promise<string> => {
  let found: Fields | undefined
  for await (const record of listPages(client, recordKind.path, { limit: 100 })) {
    if (record[field] === word) return `${recordKind.path}/${encodeURIComponent(word)}`
    if (record["id"] === word) found = record
  }
  found ??= await byName(client, recordKind, word)
  return `${recordKind.path}/${encodeURIComponent(String(found[field]))}`
}

const byName = async (
  client: SchedulingClient,
  recordKind: RecordKind,
  name: string
): Promise<Fields> => {
  const found: Array<Fields> = []
  const { nameField = "name", path, pathField } = recordKind
  const query = pathField === undefined ? { name, limit: 100 } : { limit: 100 }
  for await (const record of listPages(client, path, query)) {
    if (record[nameField] === name) found.push(record)
  }
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  throw new CommandError(
    found.length === 0
      ? `No ${nounOf(recordKind)} has the id, ${pathField ?? "key"} or ${nameField} "${name}".`
      : `${found.length} ${pluralOf(recordKind)} have the ${nameField} "${name}". Use a ${pathField ?? "key"} or an id.`
  )
}

const nounOf = ({ singular }: RecordKind) => singular.replace(/^an? /, "")

const show = (given: CommandArguments, record: Fields): number => {
  if (given.has("json")) printJson(record)
  else print(toYaml(record).trimEnd())
  return exitStatus.success
}

/** The plurals that differ from the kind's name on the command line. */
const plurals: Readonly<Record<string, string>> = {
  cron: "cron tasks",
  escalations: "escalation policies",
  maintenance: "maintenance windows",
  "status-pages": "status pages"
}

const pluralOf = ({ name }: RecordKind) => plurals[name] ?? name

const list = (recordKind: RecordKind): Partial<Command> => ({
  summary: `Lists ${pluralOf(recordKind)}.`,
  options: {
    json,
    quiet: { short: "q", description: "Prints only ids." },
    limit: { value: "N", description: "Maximum number of records. 100 when absent." },
    filter: {
      value: "FIELD=VALUE",
      multiple: true,
      description: "A filter of the list, such as status=paused. May be repeated."
    }
  },
  run: async (given) => {
    const most = Number(given.value("limit") ?? 100)
    if (!Number.isInteger(most) || most < 1)
      throw new UsageError("--limit must be a whole number of at least 1.")
    const filters = given.values("filter").map((text) => {
      const at = text.indexOf("=")
      if (at < 1) throw new UsageError(`--filter must be FIELD=VALUE, not ${text}`)
      return [text.slice(0, at), text.slice(at + 1)]
    })
    const query = { ...Object.fromEntries(filters), limit: Math.min(most, 100) }
    const rows: Array<Fields> = []
    for await (const record of listPages(makeClient(), recordKind.path, query)) {
      if (given.has("json")) printJson(record)
      else if (given.has("quiet")) print(formatCell(record["id"] ?? record["name"]))
      else rows.push(record)
      if (rows.length === most) break
    }
    if (!given.has("json") && !given.has("quiet")) {
      printTable(
        recordKind.columns,
        rows.map((record) => recordKind.columns.map((column) => formatCell(record[column])))
      )
    }
    return exitStatus.success
  }
})

const get = (recordKind: RecordKind): Partial<Command> => ({
  summary: `Shows ${recordKind.singular}.`,
  options: { json },
  run: async (given) => {
    const client = makeClient()
    const path = await pathOf(client, recordKind, requiredArgument(given, 0))
    return show(given, await client.request("GET", `${base}/${path}`))
  }
})

/** Returns the path of a new record whose path ends with its key or slug. */
const newPath = async (
  client: SchedulingClient,
  recordKind: RecordKind,
  name: unknown
): Promise<string> => {
  const { path, pathField } = recordKind
  if (typeof name !== "string") throw new CommandError(`${pathField} is required.`)
  const to = `${base}/${path}/${encodeURIComponent(name)}`
  if ((await ifFound(client.request("GET", to))) === undefined) return to
  throw new CommandError(
    `The ${nounOf(recordKind)} "${name}" already exists. Change it with \`edit\`, or choose another ${pathField}.`
  )
}

const create = (recordKind: RecordKind): Partial<Command> => ({
  summary: `Creates ${recordKind.singular} from YAML or JSON.`,
  options: { json, file },
  run: async (given) => {
    const path = given.value("file") ?? "-"
    const { kind, ...fields } = parseObject(readText(path), path)
    const isMonitor = recordKind.name === "monitors"
    if (isMonitor && typeof kind !== "string") {
      throw new CommandError("kind is required. Add a kind, such as heartbeat or ssl.")
    }
    const body = isMonitor || kind === undefined ? fields : { ...fields, kind }
    const client = makeClient()
    const { pathField } = recordKind
    const to = isMonitor ? `monitors/${String(kind)}` : recordKind.path
    const record: Fields =
      pathField === undefined
        ? await client.request("POST", `${base}/${to}`, { body })
        : await client.request("PUT", await newPath(client, recordKind, fields[pathField]), {
            body
          })
    return show(given, record)
  }
})

const remove = (recordKind: RecordKind): Partial<Command> => ({
  summary: `Deletes ${recordKind.singular}.`,
  run: async (given) => {
    const client = makeClient()
    const path = await pathOf(client, recordKind, requiredArgument(given, 0))
    await client.request("DELETE", `${base}/${path}`)
    printNote(`Deleted ${path}.`)
    return exitStatus.success
  }
})

const runAction = (recordKind: RecordKind, action: Action): Partial<Command> => ({
  summary: `${action.charAt(0).toUpperCase()}${action.slice(1)}s ${recordKind.singular}.`,
  options: { json },
  run: async (given) => {
    const client = makeClient()
    const path = await pathOf(client, recordKind, requiredArgument(given, 0))
    return show(given, await client.request("POST", `${base}/${path}/${action}`))
  }
})

/**
 * Fields that only responses have. They are removed before a record is sent back, because the
 * service rejects unknown fields.
 */
const responseOnlyFields = new Set([
  "id",
  "workspace_id",
  "version",
  "status",
  "created_at",
  "updated_at",
  "last_run",
  "next_run_at",
  "paused_reason",
  "last_change_at",
  "next_check_at",
  "open_incident_id",
  "is_active",
  "next_starts_at",
  "has_password"
])

const edit = (recordKind: RecordKind): Partial<Command> => ({
  summary: `Opens ${recordKind.singular} as YAML in $EDITOR, and saves the changes.`,
  options: { json },
  run: async (given) => {
    const client = makeClient()
    const path = await pathOf(client, recordKind, requiredArgument(given, 0))
    const record: Fields = await client.request("GET", `${base}/${path}`)
    const before = Object.fromEntries(
      Object.entries(record).filter(
        ([name]) => !responseOnlyFields.has(name) && name !== recordKind.pathField
      )
    )
    const after = parseObject(editText(toYaml(before)), "the edited text")
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    const changes = names
      .filter((name) => !isDeepStrictEqual(before[name], after[name]))
      .map((name) => [name, after[name] ?? null])
    if (changes.length === 0) {
      printNote("Nothing has changed.")
      return exitStatus.success
    }
    const { version } = record
    const isReplaced = recordKind.pathField !== undefined
    const body = { ...(isReplaced ? after : Object.fromEntries(changes)), version }
    const method = isReplaced ? "PUT" : "PATCH"
    return show(given, await client.request(method, `${base}/${path}`, { body }))
  }
})

const editText = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "scheduling-"))
  const path = join(folder, "record.yaml")
  try {
    writeFileSync(path, text, { mode: 0o600 })
    const editor = env["VISUAL"] || env["EDITOR"] || "vi"
    const { status } = spawnSync("sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" })
    if (status !== 0)
      throw new CommandError(`The editor ended with ${status}. Nothing was changed.`)
    return readFileSync(path, "utf8")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const commandParts: Partial<Record<Action, (recordKind: RecordKind) => Partial<Command>>> = {
  list,
  get,
  create,
  edit,
  delete: remove
}

const commandOf = (recordKind: RecordKind, action: Action): Command => {
  const name = `${recordKind.name} ${action}`
  const takesRecord = action !== "list" && action !== "create"
  const { summary = "", ...made } =
    commandParts[action]?.(recordKind) ?? runAction(recordKind, action)
  const line = `scheduling ${name}${takesRecord ? ` ${recordKind.example}` : ""}`
  const others: Partial<Record<Action, readonly [string, string]>> = {
    list: [line, `${line} --json --limit 5`],
    create: [`${line} -f ${recordKind.name}.yaml`, `${line} --json < ${recordKind.name}.yaml`],
    edit: [line, `EDITOR=true ${line}`],
    delete: [line, `${line} || echo "It was gone already."`]
  }
  return {
    name,
    summary,
    ...(takesRecord && { usage: "KEY_OR_ID", words: [1, 1] as const }),
    examples: others[action] ?? [line, `${line} --json`],
    run: () => exitStatus.usage,
    ...made
  }
}

const setSecret: Command = {
  name: "secrets set",
  summary: "Creates or changes a secret. Its value comes from standard input.",
  usage: "NAME",
  words: [1, 1],
  options: {
    host: {
      value: "HOST",
      multiple: true,
      description: "A host that the secret may be sent to. May be repeated."
    }
  },
  examples: [
    "scheduling secrets set API_TOKEN --host api.example.com < token.txt",
    "scheduling secrets set API_TOKEN --host api.example.com --host '*.example.com' < token.txt"
  ],
  run: async (given) => {
    const name = requiredArgument(given, 0)
    const body = {
      value: readText("-").replace(/\r?\n$/, ""),
      allowed_hosts: [...given.values("host")]
    }
    if (body.allowed_hosts.length === 0) throw new UsageError("--host is required.")
    await makeClient().request("PUT", `${base}/secrets/${encodeURIComponent(name)}`, { body })
    printNote(`Set ${name}.`)
    return exitStatus.success
  }
}

const deleteSecret: Command = {
  name: "secrets delete",
  summary: "Deletes a secret that nothing uses.",
  usage: "NAME",
  words: [1, 1],
  examples: [
    "scheduling secrets delete API_TOKEN",
    'scheduling secrets delete API_TOKEN || echo "It was gone already."'
  ],
  run: async (given) => {
    const name = requiredArgument(given, 0)
    await makeClient().request("DELETE", `${base}/secrets/${encodeURIComponent(name)}`)
    printNote(`Deleted ${name}.`)
    return exitStatus.success
  }
}

export const recordCommands: ReadonlyArray<Command> = [
  ...recordKinds.flatMap((recordKind) =>
    recordKind.actions.map((action) => commandOf(recordKind, action))
  ),
  setSecret,
  deleteSecret
]

/** Finds the task or chain with this id, key or name. */
export const findTask = async (client: SchedulingClient, word: string) => {
  for (const recordKind of recordKinds.filter(({ name }) =>
    ["cron", "chains", "delayed"].includes(name)
  )) {
    try {
      const path = await pathOf(client, recordKind, word)
      const record: Fields = await client.request("GET", `${base}/${path}`)
      return { kind: recordKind.name as "chains" | "cron" | "delayed", id: String(record["id"]) }
    } catch (error) {
      if (!(error instanceof NotFoundError) && !(error instanceof CommandError)) throw error
    }
  }
  return undefined
}
