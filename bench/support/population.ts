import { createServer } from "node:http"
import { listen } from "./listen.ts"
import type { GetRequest } from "./load.ts"

export interface Workspace {
  readonly id: string
  readonly apiKey: string
  readonly accessToken: string
}

export const newWorkspaces = async (
  serviceUrl: string,
  count: number
): Promise<ReadonlyArray<Pick<Workspace, "id" | "accessToken">>> => {
  const account = { email: "bench@example.com", password: "correct horse battery staple" }
  await post(serviceUrl, "/v1/auth/register", account)
  const tokens = await post<{ access_token: string }>(serviceUrl, "/v1/auth/login", account)
  const accessToken = tokens.access_token
  const workspaces = []
  for (let n = 0; n < count; n++) {
    const workspace = { name: `Workspace ${n}` }
    const { id } = await post<{ id: string }>(serviceUrl, "/v1/workspaces", workspace, accessToken)
    workspaces.push({ id, accessToken })
  }
  return workspaces
}

/**
 * Creates workspaces for one user. Each has a key, a login, and ten cron tasks that have run once.
 */
export const populate = async (
  serviceUrl: string,
  count: number
): Promise<ReadonlyArray<Workspace>> => {
  const sink = createServer((_, response) => response.end("ok"))
  const url = `http://127.0.0.1:${await listen(sink)}/`
  const account = { email: "bench@example.com", password: "correct horse battery staple" }
  await post(serviceUrl, "/v1/auth/register", account)
  const login = async () => {
    const tokens = await post<{ readonly access_token: string }>(
      serviceUrl,
      "/v1/auth/login",
      account
    )
    return tokens.access_token
  }

  const workspaces: Array<Workspace> = []
  for (let n = 0; n < count; n++) {
    const accessToken = await login()
    const send = <A>(path: string, body: object) => post<A>(serviceUrl, path, body, accessToken)
    const { id } = await send<{ id: string }>("/v1/workspaces", { name: `Workspace ${n}` })
    const at = `/v1/workspaces/${id}`
    const { key } = await send<{ key: string }>(`${at}/api-keys`, {
      name: "Bench",
      scopes: ["tasks:read"]
    })
    for (let task = 0; task < 10; task++) {
      const created = await send<{ id: string }>(`${at}/cron`, {
        name: `Report ${task}`,
        schedule: "0 0 1 1 *",
        url
      })
      await send(`${at}/cron/${created.id}/run`, {})
    }
    workspaces.push({ id, apiKey: key, accessToken })
  }

  await Promise.all(workspaces.map((workspace) => untilAllRan(serviceUrl, workspace)))
  sink.close()
  sink.closeAllConnections()
  return workspaces
}

export const cronLists = (workspaces: ReadonlyArray<Workspace>): ReadonlyArray<GetRequest> =>
  workspaces.map(({ apiKey, id }) => ({ path: `/v1/workspaces/${id}/cron`, token: apiKey }))

export const keyLists = (workspaces: ReadonlyArray<Workspace>): ReadonlyArray<GetRequest> =>
  workspaces.map(({ accessToken, id }) => ({
    path: `/v1/workspaces/${id}/api-keys`,
    token: accessToken
  }))

export const get = async (url: string, { path, token }: GetRequest): Promise<unknown> => {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

type Send = <A>(url: string, path: string, body: object, accessToken?: string) => Promise<A>

const sendBy =
  (method: "POST" | "PUT"): Send =>
  async (url, path, body, accessToken) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        "content-type": "application/json",
        ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` })
      },
      body: JSON.stringify(body)
    })
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

export const post = sendBy("POST")

export const put = sendBy("PUT")

const untilAllRan = async (serviceUrl: string, workspace: Workspace) => {
  const [request] = cronLists([workspace])
  if (request === undefined) return
  for (let tries = 0; tries < 200; tries++) {
    const page = (await get(serviceUrl, request)) as {
      readonly data: ReadonlyArray<{ readonly last_run: { readonly status: string } | null }>
    }
    if (page.data.every((task) => task.last_run?.status === "succeeded")) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error("the tasks of the bench did not run within ten seconds")
}
