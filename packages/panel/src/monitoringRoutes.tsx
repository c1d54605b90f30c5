import { createRoute, notFound, type RouteComponent } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { monitorKinds } from "./data/monitorKinds.ts"
import { incidentSearch } from "./incidents/queries.ts"
import { monitorSearch } from "./monitors/search.ts"
import { deliverySearch, newChannelSearch } from "./notifications/search.ts"
import { page, searchPage, workspace } from "./parentRoutes.tsx"

const monitorPage = <const Path extends `/monitors/$kind/${string}`>(
  path: Path,
  component: RouteComponent
) =>
  createRoute({
    getParentRoute: () => workspace,
    path,
    beforeLoad: ({ params }) => {
      if (!Object.hasOwn(monitorKinds, (params as { readonly kind: string }).kind)) throw notFound()
    },
    component
  })

export const monitoringRoutes = [
  searchPage(
    "/monitors",
    monitorSearch,
    lazyPage(() => import("./monitors/MonitorListPage.tsx"), "MonitorListPage")
  ),
  monitorPage(
    "/monitors/$kind/new",
    lazyPage(() => import("./monitors/MonitorPage.tsx"), "NewMonitorPage")
  ),
  monitorPage(
    "/monitors/$kind/$monitorId",
    lazyPage(() => import("./monitors/MonitorPage.tsx"), "MonitorPage")
  ),
  monitorPage(
    "/monitors/$kind/$monitorId/edit",
    lazyPage(() => import("./monitors/MonitorPage.tsx"), "EditMonitorPage")
  ),
  searchPage(
    "/incidents",
    incidentSearch,
    lazyPage(() => import("./incidents/IncidentListPage.tsx"), "IncidentListPage")
  ),
  page(
    "/incidents/$incidentId",
    lazyPage(() => import("./incidents/IncidentPage.tsx"), "IncidentPage")
  ),
  page(
    "/notifications",
    lazyPage(() => import("./notifications/channels/ChannelListPage.tsx"), "ChannelListPage")
  ),
  page(
    "/notifications/rules",
    lazyPage(() => import("./notifications/rules/RulesPage.tsx"), "RulesPage")
  ),
  searchPage(
    "/notifications/channels/new",
    newChannelSearch,
    lazyPage(() => import("./notifications/channels/NewChannelPage.tsx"), "NewChannelPage")
  ),
  page(
    "/notifications/channels/$channelId",
    lazyPage(() => import("./notifications/channels/ChannelPage.tsx"), "ChannelPage")
  ),
  searchPage(
    "/notifications/deliveries",
    deliverySearch,
    lazyPage(() => import("./notifications/deliveries/DeliveryListPage.tsx"), "DeliveryListPage")
  ),
  page(
    "/notifications/deliveries/$deliveryId",
    lazyPage(() => import("./notifications/deliveries/DeliveryPage.tsx"), "DeliveryPage")
  )
] as const
