import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { Yaml } from "effect/encoding"
import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { AppConfig, settingNames } from "../../../src/core/config/Config.ts"

const root = path.resolve(import.meta.dirname, "../../../../..")
const read = (file: string) => readFileSync(path.join(root, file), "utf8")

const configured = Effect.provide(AppConfig, AppConfig.layer)

// oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the manifest
type Manifest = any

const manifests = read("deploy/kubernetes.yaml")
  .split(/^---$/m)
  .map((text): Manifest => Yaml.parse(text))

const kindOf = (kind: string) => manifests.find((one) => one.kind === kind)

describe("the manifest for Kubernetes", () => {
  const { metadata, spec } = kindOf("Deployment").spec.template
  const [container] = spec.containers
  const env: ReadonlyArray<{ readonly name: string; readonly value: string }> = container.env
  const valueOf = (name: string) => env.find((one) => one.name === name)?.value ?? ""
  const portOf = (name: string) =>
    container.ports.find((one: Manifest) => one.name === name).containerPort

  it.effect("sets only existing settings, to valid values", () =>
    Effect.gen(function* () {
      const known = yield* settingNames
      for (const { name } of env) assert.isTrue(known.has(name), name)
      const config = yield* Effect.provideService(
        configured,
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({
          env: {
            ...Object.fromEntries(
              env.flatMap(({ name, value }) => (name.endsWith("_FILE") ? [] : [[name, value]]))
            ),
            APP_SECRET: "x".repeat(64),
            DATABASE_URL: "postgres://scheduling:PASSWORD@postgres:5432/scheduling"
          }
        })
      )
      assert.strictEqual(portOf("http"), config.port)
      assert.strictEqual(portOf("metrics"), config.metricsPort)
      assert.include(config.allowedHosts, kindOf("Service").metadata.name)
      const writable = container.volumeMounts.find((one: Manifest) => one.mountPath === "/data")
      assert.strictEqual(config.dataDir, "/data")
      assert.isUndefined(writable.readOnly)
    })
  )

  it("reads its secrets from the files that it mounts", () => {
    const { name } = spec.volumes.find((one: Manifest) => one.secret !== undefined)
    const mount = container.volumeMounts.find((one: Manifest) => one.name === name)
    for (const setting of ["APP_SECRET_FILE", "DATABASE_URL_FILE"]) {
      const file = valueOf(setting)
      assert.strictEqual(path.posix.dirname(file), mount.mountPath)
      assert.include(read("deploy/kubernetes.yaml"), `--from-literal=${path.posix.basename(file)}=`)
    }
  })

  it("probes the routes for liveness and readiness with an allowed host", () => {
    const probes = {
      livenessProbe: "/v1/health",
      startupProbe: "/v1/health",
      readinessProbe: "/v1/ready"
    }
    for (const [probe, route] of Object.entries(probes)) {
      const { httpGet } = container[probe]
      assert.strictEqual(httpGet.path, route)
      assert.property(JSON.parse(read("packages/openapi/openapi.json")).paths, route)
      assert.strictEqual(portOf(httpGet.port), 4000)
      assert.deepStrictEqual(httpGet.httpHeaders, [{ name: "Host", value: "localhost" }])
    }
  })

  it("gives the service time to stop and enough memory, and keeps other nodes running", () => {
    const [, pause] = container.lifecycle.preStop.exec.command
    assert.isAtLeast(spec.terminationGracePeriodSeconds, 30 + Number(pause))
    assert.strictEqual(container.resources.limits.memory, "1Gi")
    assert.isTrue(container.securityContext.readOnlyRootFilesystem)
    const selectors = [
      kindOf("Deployment").spec.selector.matchLabels,
      kindOf("PodDisruptionBudget").spec.selector.matchLabels,
      kindOf("Service").spec.selector
    ]
    for (const selector of selectors) assert.deepStrictEqual(selector, metadata.labels)
    assert.isAbove(
      kindOf("Deployment").spec.replicas,
      kindOf("PodDisruptionBudget").spec.maxUnavailable
    )
  })
})

describe("the other ways to deploy", () => {
  it.effect("set only existing settings", () =>
    Effect.gen(function* () {
      const known = yield* settingNames
      const named = [
        ...read("compose.yaml").matchAll(/^ {4}([A-Z][A-Z_]+):/gm),
        ...read("deploy/scheduling.service").matchAll(/\b([A-Z][A-Z_]+)=/g)
      ].map(([, name = ""]) => name)
      assert.isAbove(named.length, 20)
      for (const name of named) assert.isTrue(known.has(name), name)
    })
  )

  it.effect("pass every setting on to the container, and the file with the plans", () =>
    Effect.gen(function* () {
      const { services } = Yaml.parse(read("compose.yaml")) as Manifest
      const { environment, volumes } = services.server
      const documented = read("docs/operations.md")
        .split("\n")
        .filter((line) => line.startsWith("| `"))
        .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([A-Z_]+)`/g)])
        .map(([, name = ""]) => name)
      assert.isAbove(documented.length, 30)
      const asked = [...(yield* settingNames)].filter((name) => !name.endsWith("_FILE"))
      // The image itself sets these variables.
      const ofImage = new Set(["HOST", "PORT", "DATA_DIR"])
      const named = [...documented, ...asked].filter((name) => !ofImage.has(name))
      for (const name of named) assert.property(environment, name)
      assert.strictEqual(services.runner.environment.RUNNER, "on")
      const [plans] = volumes
      assert.strictEqual(plans.source, "${PLANS_FILE:-/dev/null}")
      assert.strictEqual(environment.PLANS_FILE, `\${PLANS_FILE:+${plans.target}}`)
    })
  )

  it("install the agent at the path that its unit starts", () => {
    const unit = read("packages/agent/scheduling-agent.service")
    const steps = /^## As a service$[\s\S]*?```sh\n([\s\S]*?)```/m.exec(
      read("docs/workers.md")
    )?.[1]
    const files = [
      ...unit.matchAll(/^EnvironmentFile=-(\S+)$/gm),
      ...unit.matchAll(/^LoadCredential=token:(\S+)$/gm),
      ...unit.matchAll(/^Environment=SCHEDULING_STATUS_FILE=(\S+)$/gm)
    ].map(([, file = ""]) => file)
    assert.lengthOf(files, 3)
    for (const file of files) assert.include(steps ?? "", file)
    assert.match(unit, /^ExecStart=\/usr\/local\/bin\/scheduling-agent /m)
    assert.include(steps ?? "", "--prefix /usr/local packages/agent/dist/scheduling-agent-*.tgz")
  })

  it.skipIf(spawnSync("systemd-analyze", ["--version"]).error !== undefined)(
    "have units that systemd accepts",
    () => {
      const folder = mkdtempSync(path.join(tmpdir(), "scheduling-unit-"))
      try {
        const program = path.join(folder, "bin", "node")
        mkdirSync(path.dirname(program))
        writeFileSync(program, "")
        chmodSync(program, 0o755)
        for (const file of [
          "deploy/scheduling.service",
          "packages/agent/scheduling-agent.service"
        ]) {
          const unit = path.join(folder, path.basename(file))
          // systemd-analyze checks whether the program exists, so the unit must name a program on
          // this machine.
          writeFileSync(unit, read(file).replace(/^(ExecStart=)\S+/m, `$1${program}`))
          const said = execFileSync("systemd-analyze", ["verify", "--man=no", unit], {
            encoding: "utf8",
            stdio: "pipe"
          })
          assert.strictEqual(said, "")
          writeFileSync(unit, read(file).replace("[Service]", "[Service]\nExecStart=relative"))
          const { status } = spawnSync("systemd-analyze", ["verify", "--man=no", unit])
          assert.notStrictEqual(status, 0)
        }
      } finally {
        rmSync(folder, { recursive: true })
      }
    }
  )
})

describe("the documentation", () => {
  it("installs no package by name before the first release", () => {
    const fetching =
      /(?:\b(?:npx|bunx)|\b(?:npm|pnpm|yarn|bun|deno) (?:install|i|add|exec|dlx|x))(?: -\S+)* (?:scheduling-|@scheduling\/)\S*|npmjs\.com\/package\/(?:scheduling-|@scheduling\/)\S*/g
    const skipped = new Set(["node_modules", "dist", ".git", ".data"])
    const files = globSync(["**/*", ".github/**/*", ".ci/*"], {
      cwd: root,
      withFileTypes: true,
      exclude: ({ name }) => skipped.has(name)
    }).filter((entry) => entry.isFile() && !/\.(?:png|woff2|tgz)$/.test(entry.name))
    assert.isAbove(files.length, 500)
    const found = files.flatMap(({ name, parentPath }) => {
      const file = path.relative(root, path.join(parentPath, name))
      return [...read(file).matchAll(fetching)].map(([text]) => `${file}: ${text}`)
    })
    assert.deepStrictEqual(found, [])
  })
})
