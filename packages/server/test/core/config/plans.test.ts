import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Result } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { AppConfig } from "../../../src/core/config/Config.ts"
import { readPlans, selfHostedPlan } from "../../../src/core/config/plans.ts"

const folder = mkdtempSync(join(tmpdir(), "plans-"))
afterAll(() => rmSync(folder, { recursive: true }))

const read = (content: unknown) => {
  const path = join(folder, "plans.json")
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
  return readPlans(path)
}

const workspace = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
const free = { id: "free", name: "Free", limits: { cron_tasks: 5 } }
const price = { id: "price_1SVqTeam", currency: "eur", amount: 1900, interval: "month" }
const team = { id: "team", name: "Team", limits: { history_days: 90 }, prices: [price] }

const setting = (env: Readonly<Record<string, string>>) =>
  AppConfig.pipe(
    Effect.provide(AppConfig.layer),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { ...env } })
    )
  )

describe("selling plans", () => {
  const path = join(folder, "sold.json")
  writeFileSync(path, JSON.stringify({ default: "free", plans: [free, team] }))
  const whole = {
    STRIPE_SECRET_KEY: "sk_test_1",
    STRIPE_WEBHOOK_SECRET: "whsec_1, whsec_2",
    PUBLIC_URL: "https://scheduling.test",
    PLANS_FILE: path
  }

  it.effect("needs a key, the secrets of webhooks, and plans with prices", () =>
    Effect.gen(function* () {
      const { plans, stripeSecretKey, stripeWebhookSecrets } = yield* setting(whole)
      assert.isDefined(stripeSecretKey)
      assert.lengthOf(stripeWebhookSecrets, 2)
      assert.strictEqual(plans.byDefault.id, "free")
    })
  )

  it.effect.each([
    ["STRIPE_WEBHOOK_SECRET", ""],
    ["PUBLIC_URL", ""],
    ["PLANS_FILE", ""],
    ["PLANS_FILE", join(folder, "nowhere.json")],
    ["STRIPE_SECRET_KEY", "pk_test_1"],
    ["STRIPE_WEBHOOK_SECRET", "secret"]
  ] as const)("does not start with %s=%s, and says why", ([name, value]) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(setting({ ...whole, [name]: value }))
      assert.match(message, new RegExp(`^[^\\n]*${name}[^\\n]*$`))
      assert.notInclude(message, "sk_test_1")
    })
  )
})

describe("the file of plans", () => {
  it("has plans, the default plan and assigned plans; a missing limit has its default", () => {
    const { assigned, byDefault, plans } = Result.getOrThrow(
      read({ default: "free", plans: [free, team], workspaces: { [workspace]: "team" } })
    )
    assert.deepStrictEqual(byDefault, {
      ...free,
      limits: { ...selfHostedPlan.limits, cron_tasks: 5 },
      trial_days: 0,
      prices: []
    })
    assert.strictEqual(plans.get("team")?.limits.history_days, 90)
    assert.strictEqual(plans.get("team")?.limits.cron_tasks, 10_000)
    assert.strictEqual(assigned.get(workspace), "team")
  })

  it.each([
    ["no JSON", "{", /PLANS_FILE is not valid/],
    ["no plan", { default: "free", plans: [] }, /PLANS_FILE is not valid/],
    [
      "a default plan that does not exist",
      { default: "gold", plans: [free] },
      /default names the plan gold/
    ],
    [
      "a workspace on a plan that does not exist",
      { default: "free", plans: [free], workspaces: { [workspace]: "gold" } },
      /workspaces\.019a9f3c-.* names the plan gold/
    ],
    ["a plan twice", { default: "free", plans: [free, free] }, /defines the id free twice/],
    [
      "a price twice",
      { default: "free", plans: [free, team, { ...team, id: "other" }] },
      /defines the id price_1SVqTeam twice/
    ],
    [
      "a limit that does not exist",
      { default: "free", plans: [{ ...free, limits: { cron_task: 5 } }] },
      /cron_task/
    ],
    [
      "a negative limit",
      { default: "free", plans: [{ ...free, limits: { cron_tasks: -1 } }] },
      /cron_tasks/
    ]
  ])("is refused in one line with %s", (_, content, message) => {
    const problem = Result.getOrThrow(Result.flip(read(content)))
    assert.match(problem, message)
    assert.notInclude(problem, "\n")
  })

  it("may be as docs/billing.md shows it", () => {
    const page = readFileSync(new URL("../../../../../docs/billing.md", import.meta.url), "utf8")
    const [, file, sold] = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(
      ([, block = ""]): Readonly<Record<string, unknown>> => JSON.parse(block)
    )
    const { assigned, plans } = Result.getOrThrow(read(file))
    assert.deepStrictEqual(
      [[...plans.keys()], [...assigned.values()]],
      [["free", "team"], ["team"]]
    )
    assert.isTrue(Result.isSuccess(read({ default: "team", plans: [sold] })))
  })

  it("is rejected if it does not exist", () => {
    assert.match(
      Result.getOrThrow(Result.flip(readPlans(join(folder, "nowhere.json")))),
      /cannot be read: .*nowhere\.json/
    )
  })
})

describe("the limits in the API reference", () => {
  const reference = readFileSync(
    new URL("../../../../openapi/openapi.json", import.meta.url),
    "utf8"
  )
  const named = [...reference.matchAll(/\(`(\w+)`, ([\d,]+) by default\)/g)].map(
    ([, limit = "", number = ""]) => [limit, Number(number.replaceAll(",", ""))] as const
  )

  it("include the limits of tasks, monitors and keys", () => {
    assert.includeMembers(
      named.map(([limit]) => limit),
      ["cron_tasks", "chains", "pending_delayed_tasks", "monitors", "active_api_keys"]
    )
  })

  it.each(named)("have the default of the plan self_hosted: %s", (limit, number) => {
    assert.strictEqual(selfHostedPlan.limits[limit as keyof typeof selfHostedPlan.limits], number)
  })
})
