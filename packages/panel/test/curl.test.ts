import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { curlOf, maskedHeaderVariables } from "../src/executions/curl.ts"

const run = (command: string, variables: Readonly<Record<string, string>>) =>
  new Promise<{ readonly failed: boolean; readonly problem: string }>((resolve) => {
    const env = { PATH: process.env["PATH"], ...variables }
    execFile("sh", ["-c", command], { env }, (error, _, problem) =>
      resolve({ failed: error !== null, problem })
    )
  })

describe("the curl command of a call with hidden headers", () => {
  const arrived: Array<IncomingHttpHeaders> = []
  const server = createServer((request, response) => {
    arrived.push(request.headers)
    response.end()
  })
  let command = ""
  const headers = { "x-api-key": "•••", "1$x`y-token": "•••", "x-team": "it's" }

  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    command = curlOf(
      { method: "POST", url: `http://127.0.0.1:${port}/`, headers, body: "{}" },
      "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
    )
  })
  afterAll(() => server.close())

  it("has a variable for each of them", () => {
    expect(maskedHeaderVariables({ headers })).toEqual(["X_API_KEY", "_1_X_Y_TOKEN"])
  })

  it("sends nothing until all variables are set, and then sends their values", async () => {
    const half = await run(command, { X_API_KEY: "new" })
    expect(half.failed).toBe(true)
    expect(half.problem).toContain("_1_X_Y_TOKEN")
    expect(arrived).toEqual([])
    const whole = await run(command, { X_API_KEY: 'a "b" $c', _1_X_Y_TOKEN: "d" })
    expect(whole.failed).toBe(false)
    expect(arrived).toHaveLength(1)
    expect(arrived[0]).toMatchObject({
      "x-api-key": 'a "b" $c',
      "1$x`y-token": "d",
      "x-team": "it's"
    })
  })
})
