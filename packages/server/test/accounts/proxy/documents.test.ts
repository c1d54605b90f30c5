// @tags processes
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { ask, statusAndError } from "../../support/http.ts"
import { eventually, temporaryFolder } from "../../support/ServerProcess.ts"
import { TestApp, testAppLayer } from "../../support/TestApp.ts"
import { panelPageHeaders, publicUrl } from "../oidc/identityProvider.ts"

const page = readFileSync(new URL("../../../../../docs/signing-in.md", import.meta.url), "utf8")

const snippet = (language: string) =>
  new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? ""

const addressOf = (url: string) => new URL(url).host

interface Proxy {
  readonly command: string
  readonly args: (folder: string) => ReadonlyArray<string>
  readonly header: string
  /** The address of the program that identifies users. */
  readonly knowsPeople: string
  readonly configuration: (address: string, folder: string) => string
  readonly fileName: string
}

const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    command: "nginx",
    args: (folder) => ["-p", folder, "-c", "nginx.conf", "-e", "stderr"],
    header: "X-Auth-Request-Email",
    knowsPeople: "127.0.0.1:4180",
    fileName: "nginx.conf",
    configuration: (address, folder) => `
      daemon off;
      master_process off;
      pid ${folder}/nginx.pid;
      error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path ${folder}/body;
        proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi;
        scgi_temp_path ${folder}/scgi;
        server {
          listen ${address};
          ${snippet("nginx")}
        }
      }`
  },
  Caddy: {
    command: "caddy",
    args: (folder) => ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"],
    header: "Remote-Email",
    knowsPeople: "127.0.0.1:9091",
    fileName: "Caddyfile",
    configuration: (address) =>
      `{\n\tadmin off\n\tauto_https off\n}\n${snippet("caddyfile").replace("scheduling.example.com", `http://${address}`)}`
  }
}

const isMissing = (command: string) => spawnSync(command, ["version"]).error !== undefined

/** Starts a server that identifies users by a cookie, like oauth2-proxy and Authelia. */
const startSignIn = (header: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<http.Server>((resolve) => {
          const server = http.createServer((request, response) => {
            const [, email] = /person=([^;]+)/.exec(request.headers.cookie ?? "") ?? []
            if (email !== undefined) response.setHeader(header, email)
            response.writeHead(email === undefined ? 401 : 200).end()
          })
          server.listen(0, "127.0.0.1", () => resolve(server))
        })
    ),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`))

const freeAddress = Effect.promise(
  () =>
    new Promise<string>((resolve) => {
      const server = createServer()
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        server.close(() => resolve(`127.0.0.1:${port}`))
      })
    })
)

const signInThrough = Effect.fnUntraced(function* ({ header }: Proxy) {
  const signIn = (headers: Readonly<Record<string, string>>) =>
    ask("POST", "/panel/proxy", { body: {}, headers: { ...panelPageHeaders, ...headers } })
  const email = `${randomUUID()}@example.com`
  const cookie = `person=${email}`
  const signedIn = yield* signIn({ cookie })
  assert.strictEqual(signedIn.status, 200, signedIn.text)
  const me = yield* ask("GET", "/v1/auth/me", { token: signedIn.body.access_token })
  assert.include(me.body, { email, email_verified: true })

  const lie = { [header]: "boss@example.com" }
  assert.strictEqual((yield* signIn(lie)).status, 401)
  const named = yield* signIn({ cookie, ...lie })
  const same = yield* ask("GET", "/v1/auth/me", { token: named.body.access_token })
  assert.strictEqual(same.body.email, email)

  // API clients send no cookie, and their requests reach the service.
  const refused = yield* ask("GET", "/v1/auth/me", { headers: lie })
  assert.match(statusAndError(refused), /^401 [a-z_]+$/)
  const ping = yield* ask("GET", "/ping/unknown", { headers: lie })
  assert.strictEqual(ping.status, 404, ping.text)
})

const startProxy = Effect.fnUntraced(function* (proxy: Proxy) {
  const { url } = yield* TestApp
  const folder = yield* temporaryFolder("proxy")
  const address = yield* freeAddress
  const addresses = new Map([
    ["127.0.0.1:4000", addressOf(url)],
    [proxy.knowsPeople, yield* startSignIn(proxy.header)]
  ])
  // Whole addresses, because a port such as 41803 begins with the digits of another.
  const text = proxy
    .configuration(address, folder)
    .replaceAll(/127\.0\.0\.1:\d+/g, (written) => addresses.get(written) ?? written)
  writeFileSync(join(folder, proxy.fileName), text)
  const started = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(proxy.command, proxy.args(folder), {
        stdio: "ignore",
        env: { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  yield* eventually(
    proxy.command,
    async () => {
      assert.isNull(started.exitCode, `${proxy.command} has stopped`)
      return fetch(`http://${address}/v1/ready`).then(
        ({ ok }) => ok,
        () => false
      )
    },
    20_000
  )
  return `http://${address}`
})

for (const [name, proxy] of Object.entries(proxies)) {
  describe.skipIf(isMissing(proxy.command))(`the configuration of ${name} in the docs`, () => {
    layer(testAppLayer({ publicUrl, authProxyHeader: proxy.header }))("in use", (it) => {
      it.effect("signs in the person whom the proxy knows, and nobody whom a client names", () =>
        Effect.gen(function* () {
          const url = yield* startProxy(proxy)
          yield* Effect.provideService(signInThrough(proxy), TestApp, {
            url,
            otherUrl: url,
            logs: []
          })
        })
      )
    })
  })
}
