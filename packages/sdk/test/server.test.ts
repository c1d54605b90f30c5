// @tags processes
import {
  ApiError,
  InsufficientScopeError,
  InvalidApiKeyError,
  InvalidCredentialsError,
  JwtOnlyError,
  NotFoundError,
  SchedulingClient,
  ValidationError
} from "@scheduling/sdk"
import * as EffectSdk from "@scheduling/sdk/effect"
import { unwrap, verify } from "@scheduling/sdk/webhooks"
import { Effect, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { startReceiver } from "./support/receiver.ts"
import { type Server, startServer } from "./support/server.ts"

let server: Server
beforeAll(async () => {
  server = await startServer({}, inject("storeFiles"))
})
afterAll(() => server[Symbol.asyncDispose](), 30_000)

let accounts = 0
const account = () => ({
  email: `user-${++accounts}@example.com`,
  password: "a password for tests"
})

const register = () => SchedulingClient.register({ ...account(), baseUrl: server.url })

const keyClient = async (
  ...scopes: Parameters<SchedulingClient["apiKeys"]["create"]>[0]["scopes"]
) => {
  const owner = await register()
  const created = await owner.apiKeys.create({ name: "test", scopes })
  return {
    owner,
    created,
    client: new SchedulingClient({ apiKey: created.key, baseUrl: server.url })
  }
}

describe("a user", () => {
  it("registers, works and logs out", async () => {
    const client = await register()
    const me = await client.auth.getMe()
    const workspace = await client.workspaces.get(await client.getWorkspaceId())
    const renamed = await client.workspaces.update(workspace.id, { name: "Acme" })
    expect(renamed).toEqual({ ...workspace, name: "Acme" })
    expect((await client.auth.updateMe({ name: "Ada" })).name).toBe("Ada")
    expect(me.name).toBeNull()
    await client.logout()
    await expect(client.auth.getMe()).rejects.toThrow("the session has ended")
  })

  it("logs in only with the right password, and finds the workspace", async () => {
    const login = account()
    await SchedulingClient.register({ ...login, baseUrl: server.url })
    const wrong = { ...login, password: "not the password", baseUrl: server.url }
    await expect(SchedulingClient.login(wrong)).rejects.toBeInstanceOf(InvalidCredentialsError)
    const client = await SchedulingClient.login({ ...login, baseUrl: server.url })
    expect((await client.apiKeys.list()).data).toEqual([])
  })

  it("continues with stored tokens, which are refreshed automatically", async () => {
    const login = account()
    await SchedulingClient.register({ ...login, baseUrl: server.url })
    const { refresh_token } = await new SchedulingClient({ baseUrl: server.url }).auth.login(login)
    const kept: Array<string | undefined> = []
    const client = new SchedulingClient({
      baseUrl: server.url,
      tokens: { access_token: "expired", refresh_token },
      onTokens: (tokens) => void kept.push(tokens?.refresh_token)
    })
    const [one, two] = await Promise.all([client.auth.getMe(), client.auth.getMe()])
    expect(one).toEqual(two)
    expect(kept).toHaveLength(1)
    expect(kept[0]).not.toBe(refresh_token)
  })

  it("a session that was ended elsewhere has ended", async () => {
    const login = account()
    const first = await SchedulingClient.register({ ...login, baseUrl: server.url })
    const second = await SchedulingClient.login({ ...login, baseUrl: server.url })
    for await (const session of first.auth.listSessions({ limit: 1 })) {
      if (!session.current) await first.auth.deleteSession(session.id)
    }
    await expect(second.auth.getMe()).rejects.toMatchObject({ code: "invalid_refresh_token" })
    expect((await first.auth.listSessions()).data).toHaveLength(1)
  })
})

describe("a list", () => {
  it("is read to its end, page after page", async () => {
    const client = await register()
    const names = ["a", "b", "c", "d", "e"]
    for (const name of names) await client.apiKeys.create({ name, scopes: ["tasks:read"] })
    const found: Array<string> = []
    for await (const key of client.apiKeys.list({ limit: 2 })) found.push(key.name)
    expect(found).toEqual(names.toReversed())
    const first = await client.apiKeys.list({ limit: 3 })
    expect(first.data).toHaveLength(3)
    expect((await first.nextPage())?.next_cursor).toBeNull()
  })
})

describe("an API key", () => {
  it("finds its workspace, and may do what its scopes allow", async () => {
    const { client, created, owner } = await keyClient("workspace:read")
    expect(await client.workspaces.whoami()).toMatchObject({
      kind: "api_key",
      key_prefix: created.key_prefix
    })
    expect(await client.getWorkspaceId()).toBe(await owner.getWorkspaceId())
    expect((await client.workspaces.get(await client.getWorkspaceId())).id).toBeTypeOf("string")
  })

  it("is rejected with the name of the missing scope, and if only users have access", async () => {
    const { client } = await keyClient("tasks:read")
    const id = await client.getWorkspaceId()
    const error = await client.workspaces.get(id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(InsufficientScopeError)
    expect(error).toMatchObject({ requiredScope: "workspace:read", status: 403 })
    await expect(client.apiKeys.list()).rejects.toBeInstanceOf(JwtOnlyError)
    await expect(client.auth.getMe()).rejects.toBeInstanceOf(JwtOnlyError)
  })

  it("is rejected with the next request after it was revoked", async () => {
    const { client, created, owner } = await keyClient("workspace:read")
    await client.workspaces.whoami()
    expect((await owner.apiKeys.revoke(created.id)).is_active).toBe(false)
    await expect(client.workspaces.whoami()).rejects.toBeInstanceOf(InvalidApiKeyError)
    await owner.apiKeys.delete(created.id)
    const error = await owner.apiKeys.get(created.id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error).toMatchObject({ resource: "api_key" })
  })
})

describe("a task", () => {
  it("is created, read, changed, paused and deleted", async () => {
    const { client } = await keyClient("tasks:read", "tasks:write")
    const input = { name: "n", url: "https://example.com/", schedule: "0 3 * * *" }
    const task = await client.cron.create(input)
    expect(task).toMatchObject({ ...input, status: "active", retry_count: 0 })
    expect(await client.cron.get(task.id)).toEqual(task)
    expect((await client.cron.update(task.id, { retry_count: 2 })).retry_count).toBe(2)
    expect((await client.cron.pause(task.id)).status).toBe("paused")
    expect((await client.cron.list({ status: "paused" })).data).toHaveLength(1)
    expect((await client.cron.listAll({ name: "N" })).data[0]?.id).toBe(task.id)
    expect(await client.cron.preview({ schedule: "@reboot", count: 1 }).catch(codeOf)).toBe(
      "validation_failed"
    )
    expect((await client.cron.preview({ schedule: "0 3 * * *", count: 3 })).data).toHaveLength(3)
    expect(await client.cron.delete(task.id)).toBeUndefined()
    expect(await client.cron.get(task.id).catch(codeOf)).toBe("not_found")
  })

  it("waits for its time, alone or as a chain", async () => {
    const { client } = await keyClient("tasks:read", "tasks:write", "executions:read")
    const url = "https://example.com/"
    const delayed = await client.delayed.create({ url, delay_seconds: 3600 })
    expect(await client.delayed.get(delayed.id)).toMatchObject({ status: "pending" })
    await client.delayed.delete(delayed.id)
    expect((await client.delayed.list({ status: "cancelled" })).data).toHaveLength(1)
    const chain = await client.chains.create({ name: "c", steps: [{ name: "one", url }] })
    expect((await client.chains.list()).data[0]).toMatchObject({ id: chain.id, schedule: null })
    expect((await client.executions.getStats({ bucket: "hour" })).totals.counts.failed).toBe(0)
  })

  it("calls a recipient that verifies the signature", async () => {
    const owner = await register()
    await using target = await startReceiver()
    const { data: secrets } = await owner.workspaces.getSigningSecrets({ url: target.url })
    const { id: taskId } = await owner.cron.create({
      name: "n",
      url: target.url,
      schedule: "0 3 1 1 *",
      body: '{"full":true}'
    })
    const { id } = await owner.cron.run(taskId)
    const call = await target.received
    const event = await verify(
      call.body,
      call.headers,
      secrets.map(({ call_secret }) => call_secret)
    )
    expect(event).toMatchObject({ id, executionId: id })
    expect(call.body.toString()).toBe('{"full":true}')
    const forged = verify(`${call.body.toString()} `, call.headers, secrets[0]?.call_secret ?? "")
    await expect(forged).rejects.toMatchObject({ reason: "no_matching_signature" })

    const ended = () => owner.executions.get(id).then(({ status }) => status)
    await expect.poll(ended, { timeout: 10_000 }).toBe("succeeded")
    expect((await owner.cron.listExecutions(taskId)).data).toHaveLength(1)
  })

  it("reports its result to callbacks and channels, which name the execution", async () => {
    const owner = await register()
    await using callbacks = await startReceiver()
    await using alerts = await startReceiver()
    const { data: secrets } = await owner.workspaces.getSigningSecrets({ url: callbacks.url })
    const channel = await owner.notifications.createChannel({
      name: "Operations",
      kind: "webhook",
      config: { url: alerts.url }
    })
    const { version } = await owner.notifications.getSettings()
    const rules = [{ events: ["execution.failed"] as const, channel_ids: [channel.id] }]
    await owner.notifications.replaceSettings({ version, rules })
    const task = await owner.cron.create({
      name: "Broken",
      url: `${server.url}/nowhere`,
      schedule: "0 3 1 1 *",
      on_failure: { url: callbacks.url }
    })
    const { id } = await owner.cron.run(task.id)
    const told = await callbacks.received
    const [secret] = secrets
    const event = await unwrap(told.body, told.headers, secret?.message_secret)
    expect(event).toMatchObject({
      type: "execution.failed",
      data: { execution: { id, task_id: task.id, kind: "cron" } }
    })
    expect(told.headers["webhook-id"]).toBe(`msg_${event.id}`)
    const asCall = unwrap(told.body, told.headers, secret?.call_secret)
    await expect(asCall).rejects.toMatchObject({ reason: "no_matching_signature" })

    const alert = await alerts.received
    const own = await owner.workspaces.getSigningSecrets({ url: alerts.url })
    const message = await unwrap(alert.body, alert.headers, own.data[0]?.message_secret)
    expect(message.data).toEqual(event.data)
    const elsewhere = unwrap(alert.body, alert.headers, secret?.message_secret)
    await expect(elsewhere).rejects.toMatchObject({ reason: "no_matching_signature" })
  })

  it("can be followed while it runs, also with the client for Effect", async () => {
    const { client, owner } = await keyClient("tasks:read", "tasks:write", "executions:read")
    const workspace_id = await owner.getWorkspaceId()
    const heard: Array<string> = []
    const listening = (async () => {
      for await (const event of client.events.stream()) {
        heard.push(event.type)
        if (event.type === "execution.succeeded") return
      }
    })()
    const alsoHeard = Effect.runPromise(
      EffectSdk.SchedulingClient.use((effectClient) =>
        Effect.flatMap(
          effectClient.events.stream({ params: { workspace_id }, headers: {} }),
          (events) => Stream.runHead(events)
        )
      ).pipe(
        Effect.provide(
          EffectSdk.SchedulingClient.layer({
            apiKey: Redacted.make(
              (await owner.apiKeys.create({ name: "e", scopes: ["executions:read"] })).key
            ),
            baseUrl: server.url
          }).pipe(Layer.provide(FetchHttpClient.layer))
        )
      )
    )
    const create = () =>
      client.cron.create({ name: "a", url: `${server.url}/v1/echo`, schedule: "0 0 1 1 *" })
    // The test does not know when the stream starts, so it repeats the change until an event
    // arrives.
    await expect
      .poll(async () => [(await create()).id, heard.length > 0][1], { timeout: 20_000 })
      .toBe(true)
    await client.cron.run((await create()).id)
    await listening
    expect(heard).toContain("task.created")
    expect(await alsoHeard).toMatchObject({ value: { type: "execution.queued" } })
  })
})

const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : error)

describe("the responses of the service", () => {
  it("to an invalid request list every issue", async () => {
    const client = await register()
    const error = await client.apiKeys
      .create({ name: " ", scopes: [] })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ValidationError)
    const issues = error instanceof ValidationError ? error.issues : []
    expect(issues.map(({ path }) => path[0]).toSorted()).toEqual(["name", "scopes"])
  })

  it("to a create that is repeated with the same key is the first response", async () => {
    const client = await register()
    const create = () => client.workspaces.create({ name: "B" }, { idempotencyKey: "b-1" })
    expect((await create()).id).toBe((await create()).id)
    const other = client.workspaces.create({ name: "C" }, { idempotencyKey: "b-1" })
    await expect(other).rejects.toMatchObject({ code: "idempotency_mismatch", status: 422 })
  })

  it("carry the id of the request, in errors too", async () => {
    const client = new SchedulingClient({ baseUrl: server.url })
    const { data, requestId } = await client.system.ready().withResponse()
    expect(data).toEqual({ status: "ok" })
    expect(requestId).toBeTypeOf("string")
    const named = client.request("GET", "/v1/whoami", { headers: { "x-request-id": "mine-1" } })
    const error = await named.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: "missing_credentials", requestId: "mine-1" })
  })

  it("to a user of several workspaces require the name of one", async () => {
    const client = await SchedulingClient.login({ ...(await twoWorkspaces()), baseUrl: server.url })
    await expect(client.apiKeys.list()).rejects.toThrow(/several workspaces/)
    for await (const { id } of client.workspaces.list()) {
      expect((await client.withWorkspace(id).apiKeys.list()).data).toEqual([])
    }
  })
})

const twoWorkspaces = async () => {
  const login = account()
  const client = await SchedulingClient.register({ ...login, baseUrl: server.url })
  await client.workspaces.create({ name: "Second" })
  return login
}

describe("the Effect client", () => {
  const whoami = (layer: Layer.Layer<EffectSdk.SchedulingClient, unknown, HttpClient.HttpClient>) =>
    EffectSdk.SchedulingClient.use((client) => client.workspaces.whoami()).pipe(
      Effect.provide(Layer.provide(layer, FetchHttpClient.layer)),
      Effect.runPromise
    )

  it("works with a key and with a login", async () => {
    const { created } = await keyClient("workspace:read")
    const apiKey = Redacted.make(created.key)
    const withKey = EffectSdk.SchedulingClient.layer({ apiKey, baseUrl: server.url })
    expect(await whoami(withKey)).toMatchObject({ kind: "api_key" })

    const { email, password } = account()
    await SchedulingClient.register({ email, password, baseUrl: server.url })
    const withLogin = EffectSdk.SchedulingClient.layerLogin({
      email,
      password: Redacted.make(password),
      baseUrl: server.url
    })
    expect(await whoami(withLogin)).toMatchObject({ kind: "jwt", user: { email } })
  })
})
