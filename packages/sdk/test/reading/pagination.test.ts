import { SchedulingClient, SchedulingError } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import {
  errorResponse,
  pageResponse,
  scriptedFetch,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const clientOf = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch, sent } = scriptedFetch(...steps)
  return {
    client: new SchedulingClient({ apiKey: "k", workspaceId: "ws", fetch, maxRetries: 0 }),
    paths: () => sent.map(({ path }) => path.replace("/v1/workspaces/ws/cron", ""))
  }
}

const items = (...ids: ReadonlyArray<string>) => ids.map((id) => ({ id }))

describe("a list", () => {
  it("iterates over the records of all pages with the same filters", async () => {
    const { client, paths } = clientOf(
      pageResponse(items("a", "b"), "c1"),
      pageResponse([], "c2"),
      pageResponse(items("c"), null)
    )
    const ids: Array<string> = []
    for await (const task of client.cron.list({ limit: 2, status: "paused" })) ids.push(task.id)
    expect(ids).toEqual(["a", "b", "c"])
    expect(paths()).toEqual([
      "?limit=2&status=paused",
      "?limit=2&status=paused&cursor=c1",
      "?limit=2&status=paused&cursor=c2"
    ])
  })

  it("requests no more pages when the loop ends", async () => {
    const { client, paths } = clientOf(pageResponse(items("a", "b"), "c1"))
    for await (const task of client.cron.list()) if (task.id === "b") break
    expect(paths()).toEqual([""])
  })

  it("is the first page when it is awaited, and continues with nextPage", async () => {
    const { client } = clientOf(pageResponse(items("a"), "c1"), pageResponse(items("b"), null))
    const first = await client.cron.list({ limit: 1 })
    expect(first).toMatchObject({ data: items("a"), next_cursor: "c1" })
    const second = await first.nextPage()
    expect(second).toMatchObject({ data: items("b"), next_cursor: null })
    expect(await second?.nextPage()).toBeUndefined()
  })

  it("keeps the other fields of a page", async () => {
    const counts = { new: 0, up: 3, late: 0, warning: 0, down: 1, paused: 0 }
    const { client } = clientOf(Response.json({ data: items("a"), next_cursor: null, counts }))
    const monitors = await client.monitors.list()
    expect(monitors.counts).toEqual(counts)
    expect(monitors.data).toEqual(items("a"))
  })

  it("continues from a page that was kept", async () => {
    const { client, paths } = clientOf(
      pageResponse(items("b"), "c2"),
      pageResponse(items("c"), null)
    )
    const ids: Array<string> = []
    for await (const { id } of await client.cron.list({ cursor: "c1" })) ids.push(id)
    expect(ids).toEqual(["b", "c"])
    expect(paths()).toEqual(["?cursor=c1", "?cursor=c2"])
  })

  it("is an array of the requested number of records, without an unnecessary request", async () => {
    const { client, paths } = clientOf(
      pageResponse(items("a", "b"), "c1"),
      pageResponse(items("c", "d"), "c2")
    )
    const tasks = await client.cron.list({ limit: 2 }).toArray({ limit: 3 })
    expect(tasks).toEqual(items("a", "b", "c"))
    expect(paths()).toEqual(["?limit=2", "?limit=2&cursor=c1"])
  })

  it("is an array of all records, also from a page", async () => {
    const { client } = clientOf(pageResponse(items("a"), "c1"), pageResponse(items("b"), null))
    const first = await client.cron.list()
    expect(await first.toArray({ limit: 100 })).toEqual(items("a", "b"))
  })

  it.each([0, -1, 1.5, Number.NaN])("rejects a limit of %d records", async (limit) => {
    const { client } = clientOf(pageResponse([], null))
    await expect(client.cron.list().toArray({ limit })).rejects.toThrow(/^limit must be/)
  })

  it("rejects an array without a limit like other wrong arguments", async () => {
    const { client } = clientOf(pageResponse([], null), pageResponse([], null))
    const careless = client.cron.list() as unknown as { toArray: () => Promise<unknown> }
    await expect(careless.toArray()).rejects.toThrow(SchedulingError)
    const first = (await client.cron.list()) as unknown as typeof careless
    await expect(first.toArray()).rejects.toThrow(/^limit must be/)
  })

  it("throws if a page cannot be fetched, after the records before it", async () => {
    const { client } = clientOf(pageResponse(items("a"), "c1"), errorResponse(403, "forbidden"))
    const ids: Array<string> = []
    const loop = async () => {
      for await (const { id } of client.cron.list()) ids.push(id)
    }
    await expect(loop()).rejects.toMatchObject({ name: "ForbiddenError" })
    expect(ids).toEqual(["a"])
  })

  it("returns the first page with its response", async () => {
    const { client } = clientOf(pageResponse(items("a"), null))
    const { data, requestId } = await client.cron.list().withResponse()
    expect(data.data).toEqual(items("a"))
    expect(requestId).toBe("req-1")
  })
})
