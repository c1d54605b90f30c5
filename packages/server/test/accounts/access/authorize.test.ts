import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import type { ApiKeyRepo } from "../../../src/accounts/api-keys/ApiKeyRepo.ts"
import type { ApiKeys } from "../../../src/accounts/api-keys/ApiKeys.ts"
import { authorize } from "../../../src/accounts/access/authorize.ts"
import type { AuditLog } from "../../../src/accounts/audit/AuditLog.ts"
import type { ChainRunsRepo } from "../../../src/tasks/chains/ChainRunsRepo.ts"
import type { Chains } from "../../../src/tasks/chains/Chains.ts"
import type { ChainsRepo } from "../../../src/tasks/chains/ChainsRepo.ts"
import type { CronTasks } from "../../../src/tasks/cron/CronTasks.ts"
import type { DelayedTasks } from "../../../src/tasks/delayed/DelayedTasks.ts"
import type { Executions } from "../../../src/tasks/executions/Executions.ts"
import type { ExecutionsRepo } from "../../../src/tasks/executions/ExecutionsRepo.ts"
import type { ExecutionStatsRepo } from "../../../src/tasks/executions/ExecutionStatsRepo.ts"
import type { TaskRow } from "../../../src/tasks/TaskRow.ts"
import type { TasksRepo } from "../../../src/tasks/TasksRepo.ts"
import { inWorkspace } from "../../../src/http/inWorkspace.ts"
import type { Channels } from "../../../src/notifications/channels/Channels.ts"
import type { ChannelsRepo } from "../../../src/notifications/channels/ChannelsRepo.ts"
import type { Deliveries } from "../../../src/notifications/sending/Deliveries.ts"
import type { DeliveriesRepo } from "../../../src/notifications/sending/DeliveriesRepo.ts"
import type { Settings } from "../../../src/notifications/settings/Settings.ts"
import type { SettingsRepo } from "../../../src/notifications/settings/SettingsRepo.ts"
import type { MonitorEventsRepo } from "../../../src/monitoring/MonitorEventsRepo.ts"
import type { Monitors } from "../../../src/monitoring/Monitors.ts"
import type { MonitorsRepo } from "../../../src/monitoring/MonitorsRepo.ts"
import type { Incidents } from "../../../src/incidents/Incidents.ts"
import type { IncidentsRepo } from "../../../src/incidents/IncidentsRepo.ts"
import type { RunQueue } from "../../../src/engine/RunQueue.ts"
import type { SigningSecrets } from "../../../src/engine/signing/SigningSecrets.ts"
import type { Workspaces } from "../../../src/accounts/workspaces/Workspaces.ts"
import type { WorkspacesRepo } from "../../../src/accounts/workspaces/WorkspacesRepo.ts"

/**
 * A service's methods whose first argument is or contains a workspace id that has not been
 * authorized.
 */
type TakesNamed<Service> = {
  [Method in keyof Service]: Service[Method] extends (first: infer First, ...rest: never) => unknown
    ? [First] extends [{ readonly workspace_id: infer Id }]
      ? WorkspaceId extends Id
        ? Method
        : never
      : WorkspaceId extends First
        ? Method
        : never
    : never
}[keyof Service]

// `npm run check:types` checks the types in this file.
describe("an unauthorized workspace id", () => {
  it("is accepted by no repository of a tenant's data", () => {
    expectTypeOf<TakesNamed<ApiKeyRepo["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<ChainRunsRepo["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<ChainsRepo["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<TasksRepo<TaskRow, TaskRow>>>().toBeNever()
    expectTypeOf<TakesNamed<ExecutionsRepo["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<ExecutionStatsRepo["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<SigningSecrets["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<WorkspacesRepo["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<SettingsRepo["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<MonitorEventsRepo["Service"]>>().toBeNever()
    // The job that ends maintenance windows searches all workspaces.
    expectTypeOf<TakesNamed<MonitorsRepo["Service"]>>().toEqualTypeOf<"listReleasable">()
    // The link itself proves access, and a member's address is confirmed in all of the member's
    // workspaces.
    type OfChannels = "findByLink" | "confirmOfMember"
    expectTypeOf<TakesNamed<IncidentsRepo["Service"]>>().toEqualTypeOf<"findByLink">()
    expectTypeOf<TakesNamed<ChannelsRepo["Service"]>>().toEqualTypeOf<OfChannels>()
    expectTypeOf<TakesNamed<DeliveriesRepo["Service"]>>().toBeNever()
    // The account or the workspace has been deleted, so nobody can be authorized for it.
    expectTypeOf<TakesNamed<AuditLog["Service"]>>().toEqualTypeOf<"erase">()
  })

  it("is accepted by no service on top of the repositories, nor by the run queue", () => {
    expectTypeOf<TakesNamed<ApiKeys["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<Chains["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<CronTasks["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<DelayedTasks["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<RunQueue["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<Workspaces["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<Channels["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<Deliveries["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<Settings["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<Monitors["Service"]>>().toBeNever()
    expectTypeOf<TakesNamed<Incidents["Service"]>>().toBeNever()
    // The run was already read with an authorized id.
    expectTypeOf<TakesNamed<Executions["Service"]>>().toEqualTypeOf<"queued">()
  })

  it("does not compile as an authorized id", () => {
    const named = "019A9F3C-5B1E-7C4A-9D2F-3E8B7A6C5D41" as WorkspaceId
    const read = (workspaceId: AuthorizedWorkspaceId) => workspaceId
    // @ts-expect-error a string is no permission
    assert.strictEqual(read(named), named)
    assert.strictEqual(read(authorize(named)), named.toLowerCase())
  })

  it("is not available to a handler whose path has none", () => {
    const onPath = inWorkspace<{ params: { workspace_id: WorkspaceId } }, never, never, never>
    assert.isFunction(onPath)
    // @ts-expect-error there is no workspace in these parameters
    assert.isFunction(inWorkspace<{ params: { user_id: string } }, never, never, never>)
  })
})
