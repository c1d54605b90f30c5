import { createRoute } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { prefetchList } from "./data/queries.ts"
import { executionQueries } from "./executions/queries.ts"
import { executionSearch, listQueryOf } from "./executions/search.ts"
import { forecastSearch } from "./forecast/search.ts"
import { timelineSearch } from "./timeline/search.ts"
import { prefetchOverview } from "./overview/prefetchOverview.ts"
import { pageRoute, searchPageRoute, workspaceRoute } from "./parentRoutes.tsx"
import { chainQueries } from "./tasks/chains/chainKind.ts"
import { cronQueries } from "./tasks/cron/cronKind.ts"
import { delayedQueries } from "./tasks/delayed/delayedQueries.ts"
import {
  newTaskSearch,
  delayedSearch,
  repeatingTaskSearch,
  chainPageSearch
} from "./tasks/search.ts"

const overview = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/",
  loader: ({ params: { workspaceId } }) => prefetchOverview(workspaceId),
  component: lazyPage(() => import("./overview/OverviewPage.tsx"), "OverviewPage")
})

const cron = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/cron",
  validateSearch: repeatingTaskSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => prefetchList(cronQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/cron/CronListPage.tsx"), "CronListPage")
})

const delayed = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/delayed",
  validateSearch: delayedSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) =>
    prefetchList(delayedQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/delayed/DelayedListPage.tsx"), "DelayedListPage")
})

const chains = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/chains",
  validateSearch: repeatingTaskSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => prefetchList(chainQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/chains/ChainListPage.tsx"), "ChainListPage")
})

const executions = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/executions",
  validateSearch: executionSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) =>
    prefetchList(executionQueries.list(workspaceId, listQueryOf(deps))),
  component: lazyPage(() => import("./executions/ExecutionsPage.tsx"), "ExecutionsPage")
})

const scheduledExecutions = createRoute({
  getParentRoute: () => workspaceRoute,
  path: "/executions/scheduled",
  loader: ({ params: { workspaceId } }) => prefetchList(executionQueries.scheduled(workspaceId)),
  component: lazyPage(() => import("./executions/ScheduledPage.tsx"), "ScheduledPage")
})

export const taskRoutes = [
  overview,
  searchPageRoute(
    "/timeline",
    timelineSearch,
    lazyPage(() => import("./timeline/TimelinePage.tsx"), "TimelinePage")
  ),
  searchPageRoute(
    "/forecast",
    forecastSearch,
    lazyPage(() => import("./forecast/ForecastPage.tsx"), "ForecastPage")
  ),
  cron,
  searchPageRoute(
    "/cron/new",
    newTaskSearch,
    lazyPage(() => import("./tasks/cron/cronFormPages.tsx"), "NewCronPage")
  ),
  pageRoute(
    "/cron/$taskId",
    lazyPage(() => import("./tasks/cron/CronPage.tsx"), "CronPage")
  ),
  pageRoute(
    "/cron/$taskId/edit",
    lazyPage(() => import("./tasks/cron/cronFormPages.tsx"), "EditCronPage")
  ),
  delayed,
  searchPageRoute(
    "/delayed/new",
    newTaskSearch,
    lazyPage(() => import("./tasks/delayed/delayedFormPages.tsx"), "NewDelayedPage")
  ),
  pageRoute(
    "/delayed/$taskId",
    lazyPage(() => import("./tasks/delayed/DelayedPage.tsx"), "DelayedPage")
  ),
  pageRoute(
    "/delayed/$taskId/edit",
    lazyPage(() => import("./tasks/delayed/delayedFormPages.tsx"), "EditDelayedPage")
  ),
  chains,
  searchPageRoute(
    "/chains/new",
    newTaskSearch,
    lazyPage(() => import("./tasks/chains/chainFormPages.tsx"), "NewChainPage")
  ),
  searchPageRoute(
    "/chains/$taskId",
    chainPageSearch,
    lazyPage(() => import("./tasks/chains/ChainPage.tsx"), "ChainPage")
  ),
  pageRoute(
    "/chains/$taskId/edit",
    lazyPage(() => import("./tasks/chains/chainFormPages.tsx"), "EditChainPage")
  ),
  executions,
  scheduledExecutions,
  pageRoute(
    "/executions/$executionId",
    lazyPage(() => import("./executions/ExecutionPage.tsx"), "ExecutionPage")
  )
] as const
