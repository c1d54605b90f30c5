// @tags processes
import { assert, describe, it } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { execFile, spawnSync } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { endpointsOf } from "../src/contract/endpoints.ts"
import { openApiDocument } from "../src/OpenApiDocument.ts"

const document = openApiDocument(Api)
const endpoints = endpointsOf(Api)

const operationOf = (name: string) => {
  const operation = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === name)
  assert(operation, name)
  return operation
}

const sourceOf = (name: string, language: string): string => {
  const sample = operationOf(name)["x-codeSamples"].find(({ lang }) => lang === language)
  assert(sample, `${name} in ${language}`)
  return sample.source
}

const exampleOf = (name: string): unknown =>
  operationOf(name).requestBody?.content["application/json"]?.example

const isInstalled = (command: string): boolean => spawnSync("which", [command]).status === 0

/** Calls `use` with a new folder, and deletes the folder afterwards. */
const inFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "samples-"))
  try {
    await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly credential: string | undefined
  readonly body: unknown
}

const received = async (request: IncomingMessage): Promise<Received> => {
  const text = Buffer.concat(await request.toArray()).toString()
  return {
    method: request.method,
    url: request.url,
    credential: request.headers.authorization,
    body: text === "" ? undefined : JSON.parse(text)
  }
}

const variables = Object.fromEntries(
  endpoints.flatMap(({ params }) => params).map((name) => [name.toUpperCase(), `${name}-1`])
)

/** The request that an endpoint documents, with a value for each path parameter. */
const documented = ({ access, method, name, path }: (typeof endpoints)[number]): Received => ({
  method: method.toUpperCase(),
  url: path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => `${parameter}-1`),
  credential:
    access.kind === "public" ? undefined : `Bearer ${access.kind === "jwt" ? "token" : "key"}`,
  body: exampleOf(name)
})

describe("the samples in Python", () => {
  it.skipIf(!isInstalled("python3"))(
    "send the request of their operation (needs python3)",
    async () => {
      const requests: Array<Received> = []
      const server = createServer(async (request, response) => {
        requests.push(await received(request))
        response.end("{}")
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      try {
        await inFolder(async (folder) => {
          const sources = endpoints.map(({ name }) => sourceOf(name, "Python"))
          await writeFile(join(folder, "sources.json"), JSON.stringify(sources))
          const each =
            'import json\nfor source in json.load(open("sources.json")): exec(source, {})'
          await promisify(execFile)("python3", ["-c", each], {
            cwd: folder,
            env: {
              PATH: process.env["PATH"],
              SCHEDULING_URL: `http://127.0.0.1:${port}`,
              ACCESS_TOKEN: "token",
              API_KEY: "key",
              ...variables
            }
          })
        })
      } finally {
        server.close()
      }
      assert.deepStrictEqual(requests, endpoints.map(documented))
    },
    60_000
  )
})

describe("the samples in Go", () => {
  it.skipIf(!isInstalled("gofmt"))(
    "are formatted like Go (needs gofmt)",
    () =>
      inFolder(async (folder) => {
        await Promise.all(
          endpoints.map(({ name }) =>
            writeFile(join(folder, `${name}.go`), `${sourceOf(name, "Go")}\n`)
          )
        )
        const { stderr, stdout } = await promisify(execFile)("gofmt", ["-l", folder])
        assert.deepStrictEqual([stdout, stderr], ["", ""])
      }),
    60_000
  )

  it.skipIf(!isInstalled("go"))(
    "compile, with a body and without (needs go)",
    () =>
      inFolder(async (folder) => {
        await writeFile(join(folder, "go.mod"), "module samples\n")
        for (const name of ["cron.create", "cron.list"]) {
          await mkdir(join(folder, name))
          await writeFile(join(folder, name, "main.go"), sourceOf(name, "Go"))
        }
        await promisify(execFile)("go", ["vet", "./..."], { cwd: folder })
      }),
    300_000
  )
})
