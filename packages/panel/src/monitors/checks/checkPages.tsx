import type { CheckEvent, HttpMonitor, MonitorId, SchedulingClient } from "@scheduling/sdk"
import type { MonitorDefinition } from "../../data/targets.ts"
import { type FactsByName, FactsSection } from "../../ui/layout/Page.tsx"
import { CheckNowButton } from "../CheckNowButton.tsx"
import { monitorPages, type NamedValues, type PageParts } from "../monitorPages.tsx"
import type { MonitorResource } from "../queries.ts"
import { checkEventList, type CheckedMonitor, checkFacts } from "./checkFacts.tsx"
import { PlaceResults } from "./PlaceResults.tsx"

/** Creates the pages of a kind of monitor whose target the service or workers check. */
export const checkPages = <
  M extends MonitorDefinition & CheckedMonitor & Pick<HttpMonitor, "place_results">,
  Values extends NamedValues,
  Input extends object
>({
  factsOf,
  resource,
  ...parts
}: Pick<PageParts<M, CheckEvent, Values, Input>, "form" | "kind"> & {
  readonly resource: (api: SchedulingClient) => MonitorResource<M, CheckEvent, Input> & {
    readonly check: (id: MonitorId) => PromiseLike<unknown>
  }
  /** Returns the facts that only this kind of monitor has. */
  readonly factsOf: (monitor: M) => FactsByName
}) =>
  monitorPages<M, CheckEvent, Values, Input>({
    ...parts,
    resource,
    useActions: (monitor) => ({
      buttons: (
        <CheckNowButton
          monitor={monitor}
          lastAt={monitor.last_check?.at ?? null}
          resource={resource}
        />
      )
    }),
    First: PlaceResults,
    Aside: ({ monitor }) => (
      <FactsSection title="Monitor" facts={checkFacts(monitor, factsOf(monitor))} />
    ),
    events: checkEventList,
    isMonitoredAtOnce: true
  })
