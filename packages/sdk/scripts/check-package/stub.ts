import { Api } from "@scheduling/domain/Api"
import { openApiDocument } from "@scheduling/openapi/OpenApiDocument"
import { once } from "node:events"
import { createServer } from "node:http"

/** The part of the service that the programs use, with the records of the OpenAPI document. */
export const startStub = async () => {
  const { schemas } = openApiDocument(Api).components
  const example = (name: string): unknown => [schemas[name]?.examples].flat()[0]
  const task = example("CronTask")
  const notFound = { error: "not_found", message: "", resource: "task" }
  const answers: ReadonlyArray<readonly [RegExp, number, unknown]> = [
    [/^GET .*whoami$/, 200, { kind: "api_key", workspace_id: "ws", key_prefix: "p", scopes: [] }],
    [/ .*workspaces.other/, 404, { detail: notFound, request_id: "r1" }],
    [/^GET .*cron$/, 200, { data: [task], next_cursor: null, total: null }],
    [/^POST .*cron$/, 201, task],
    [/^GET .*cron./, 200, task],
    [/^GET .*workspaces.[^/]+$/, 200, example("Workspace")]
  ]
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost")
    const line = `${request.method} ${pathname}`
    const [, status = 500, body] = answers.find(([pattern]) => pattern.test(line)) ?? []
    response.writeHead(status, { "content-type": "application/json", "x-request-id": "r1" })
    response.end(JSON.stringify(body))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("The stub has no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
