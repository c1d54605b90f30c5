/**
 * A user's program. It is type-checked here, and against the packed package by check-package.ts.
 */
import {
  ApiError,
  type ApiKeyId,
  type CronTask,
  type CronTaskId,
  InsufficientScopeError,
  NotFoundError,
  type Page,
  RateLimitError,
  SchedulingClient,
  ValidationError
} from "@scheduling/sdk"

export const main = async (baseUrl: string): Promise<ReadonlyArray<string>> => {
  const apiKey: string | undefined = "pak_x"
  const maybe: AbortSignal | undefined = undefined
  const client = new SchedulingClient({ apiKey, baseUrl, timeoutMs: 5_000, maxRetries: 1 })

  const task = await client.cron.create(
    { name: "Nightly", url: "https://example.com", schedule: "0 3 * * *", timezone: undefined },
    { signal: maybe, idempotencyKey: "nightly-1" }
  )
  const next: string | null = task.next_run_at
  const { data, requestId } = await client.cron.get(task.id).withResponse()
  const same: CronTask = data

  const names: Array<string> = []
  for await (const one of client.cron.list({ limit: 1, status: "active" })) names.push(one.name)
  const first: Page<CronTask> = await client.cron.list()

  try {
    await client.withWorkspace("other").cron.get("a plain string")
  } catch (error) {
    if (error instanceof NotFoundError) names.push(error.resource satisfies string)
    else if (error instanceof InsufficientScopeError) names.push(error.requiredScope)
    else if (error instanceof RateLimitError) names.push(String(error.retryAfter satisfies number))
    else if (error instanceof ValidationError) names.push(String(error.issues[0]?.path[0]))
    else if (error instanceof ApiError) names.push(error.code)
    else throw error
  }
  return [...names, same.id, String(next), requestId ?? "", String(first.data.length)]
}

/**
 * Calls that the compiler must accept, or reject where a comment expects an error. This function is
 * never called.
 */
export const compilerTests = (client: SchedulingClient, apiKeyId: ApiKeyId, taskId: CronTaskId) => {
  const url = "https://example.com"
  // A plain string is accepted as any id, but a branded id only where its kind is expected.
  void client.cron.get(taskId)
  // @ts-expect-error an API key's id
  void client.cron.get(apiKeyId)
  // @ts-expect-error no URL
  void client.cron.create({ name: "x", schedule: "* * * * *" })
  // @ts-expect-error no such field
  void client.cron.create({ name: "x", url, schedule: "* * * * *", shedule: "* * * * *" })
  // @ts-expect-error no such method
  void client.cron.create({ name: "x", url, schedule: "* * * * *", method: "FETCH" })
  void client.delayed.create({ url, delay_seconds: 5 })
  // @ts-expect-error neither run_at nor delay_seconds
  void client.delayed.create({ url })
  // @ts-expect-error both
  void client.delayed.create({ url, delay_seconds: 5, run_at: "2026-01-31T00:00:00Z" })
  void client.queues.create({ name: "x", max_concurrency: 2 })
  void client.queues.create({ name: "x", rate_per_second: 0.5, max_concurrency: null })
  // @ts-expect-error a limit is required
  void client.queues.create({ name: "x" })
  // @ts-expect-error null means no limit, and a limit is required
  void client.queues.create({ name: "x", max_concurrency: null })
  void client.delayed.create({ url, run_at: new Date() })
  const name = "Operations"
  void client.notifications.createChannel({ name, kind: "email", config: { to: "a@example.com" } })
  // @ts-expect-error the config for another kind
  void client.notifications.createChannel({ name, kind: "slack", config: { to: "a@example.com" } })
  // @ts-expect-error no config
  void client.notifications.createChannel({ name, kind: "slack", config: {} })
  // @ts-expect-error a PATCH must change something
  void client.cron.update(taskId)
  // @ts-expect-error this request takes no idempotency key
  void client.cron.pause(taskId, { idempotencyKey: "x" })
  // @ts-expect-error the endpoint is not in a workspace
  void client.auth.getMe({ workspaceId: "x" })
  // @ts-expect-error only one credential is allowed
  void new SchedulingClient({ apiKey: "x", email: "a@example.com", password: "y" })
}
