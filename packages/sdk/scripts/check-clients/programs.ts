/**
 * The same program for each client. It is text, because its imports exist only after generation.
 */

const account = (client: string) =>
  `const account = { email: "${client}@example.com", password: "a password for tests" }`

const cronTask = `{
  name: "Nightly report",
  url: "https://api.example.com/jobs/nightly",
  schedule: "0 3 * * *"
}`

const keyInput = `{ name: "ci", scopes: ["tasks:read" as const, "tasks:write" as const] }`

/** One of the two fields must be there. A generated union makes sure of it. */
const dueLater = (type: string) => `
export const later: ReadonlyArray<${type}> = [
  { url: "https://api.example.com/", delay_seconds: 60 },
  { url: "https://api.example.com/", run_at: "2026-01-31T09:30:00.000Z" },
  // @ts-expect-error -- when it runs is missing
  { url: "https://api.example.com/" }
]
`

/** The `kind` decides which config a channel takes. */
const channels = (type: string) => `
export const channels: ReadonlyArray<${type}> = [
  { name: "Mail", kind: "email", config: { to: "ops@example.com" } },
  // @ts-expect-error -- the config of another kind
  { name: "Chat", kind: "slack", config: { to: "ops@example.com" } }
]
`

/**
 * The key lacks a scope, and only that error has `required_scope`. So this compiles only if the
 * type narrows.
 */
const sayResult = `
const detail = refused.error?.detail
if (detail?.error !== "insufficient_scope") throw new Error("It was not refused for its scope")
const scope = detail.required_scope
console.log([task.name, page.data.length, page.next_cursor, scope].join())
`

export const openapiFetch = `
import createClient from "openapi-fetch"
import type { components, paths } from "./openapi-typescript/contract"

const baseUrl = process.argv[2] ?? ""
${account("openapi-fetch")}
const as = (credential: string) =>
  createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${credential}\` } })
const given = <A>({ data, error }: { data?: A; error?: unknown }): A => {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const open = createClient<paths>({ baseUrl })
const { workspace } = given(await open.POST("/v1/auth/register", { body: account }))
const { access_token } = given(await open.POST("/v1/auth/login", { body: account }))
const params = { path: { workspace_id: workspace.id } }
const { key } = given(
  await as(access_token).POST("/v1/workspaces/{workspace_id}/api-keys", { params, body: ${keyInput} })
)

const client = as(key)
const task = given(
  await client.POST("/v1/workspaces/{workspace_id}/cron", { params, body: ${cronTask} })
)
const page = given(
  await client.GET("/v1/workspaces/{workspace_id}/cron", {
    params: { ...params, query: { limit: 10, status: ["active"] } }
  })
)
const refused = await client.GET("/v1/workspaces/{workspace_id}", { params })
${dueLater(`components["schemas"]["DelayedTaskInput"]`)}${channels(`components["schemas"]["NotificationChannelInput"]`)}${sayResult}`

export const heyApi = `
import { apiKeysCreate, authLogin, authRegister, cronCreate, cronList, type DelayedTaskInput, type NotificationChannelInput, workspacesGet } from "./hey-api"
import { createClient } from "./hey-api/client"

const baseUrl = process.argv[2] ?? ""
${account("hey-api")}
const throwOnError = true

const open = createClient({ baseUrl })
const registered = await authRegister({ client: open, body: account, throwOnError })
const path = { workspace_id: registered.data.workspace.id }
const login = await authLogin({ client: open, body: account, throwOnError })
const person = createClient({ baseUrl, auth: login.data.access_token })
const created = await apiKeysCreate({ client: person, path, body: ${keyInput}, throwOnError })

const client = createClient({ baseUrl, auth: created.data.key })
const { data: task } = await cronCreate({ client, path, body: ${cronTask}, throwOnError })
const query = { limit: 10, status: ["active" as const] }
const { data: page } = await cronList({ client, path, query, throwOnError })
const refused = await workspacesGet({ client, path })
${dueLater("DelayedTaskInput")}${channels("NotificationChannelInput")}${sayResult}`

export const output = "Nightly report,1,,workspace:read"
