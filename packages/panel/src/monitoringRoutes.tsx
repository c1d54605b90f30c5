import { createRoute, notFound, type RouteComponent } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { monitorKinds } from "./data/monitorKinds.ts"
import { incidentSearch } from "./incidents/queries.ts"
import { monitorSearch } from "./monitors/search.ts"
import { deliverySearch, newChannelSearch } from "./notifications/search.ts"
import { pageRoute, searchPageRoute, workspaceRoute } from "./parentRoutes.tsx"

const monitorPage = <const Path extends `/monitors/$kind/${string}`>(
  path: Path,
  component: RouteComponent
) =>
  createRoute({
    getParentRoute: () => workspaceRoute,
    path,
    beforeLoad: ({ params }) => {
      if (!Object.hasOwn(monitorKinds, (params as { readonly kind: string }).kind)) throw notFound()
    },
    component
  })

export const monitoringRoutes = [
  searchPageRoute(
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
  searchPageRoute(
    "/incidents",
    incidentSearch,
    lazyPage(() => import("./incidents/IncidentListPage.tsx"), "IncidentListPage")
  ),
  pageRoute(
    "/incidents/$incidentId",
    lazyPage(() => import("./incidents/IncidentPage.tsx"), "IncidentPage")
  ),
  pageRoute(
    "/notifications",
    lazyPage(() => import("./notifications/channels/ChannelListPage.tsx"), "ChannelListPage")
  ),
  pageRoute(
    "/notifications/rules",
    lazyPage(() => import("./notifications/rules/RulesPage.tsx"), "RulesPage")
  ),
  pageRoute(
    "/notifications/escalations",
    lazyPage(() => import("./notifications/escalations/EscalationsPage.tsx"), "EscalationsPage")
  ),
  searchPageRoute(
    "/notifications/channels/new",
    newChannelSearch,
    lazyPage(() => import("./notifications/channels/NewChannelPage.tsx"), "NewChannelPage")
  ),
  pageRoute(
    "/notifications/channels/$channelId",
    lazyPage(() => import("./notifications/channels/ChannelPage.tsx"), "ChannelPage")
  ),
  searchPageRoute(
    "/notifications/deliveries",
    deliverySearch,
    lazyPage(() => import("./notifications/deliveries/DeliveryListPage.tsx"), "DeliveryListPage")
  ),
  pageRoute(
    "/notifications/deliveries/$deliveryId",
    lazyPage(() => import("./notifications/deliveries/DeliveryPage.tsx"), "DeliveryPage")
  )
] as const
