import { createRoute } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { prefetchList } from "./data/queries.ts"
import { executionQueries } from "./executions/queries.ts"
import { executionSearch } from "./executions/search.ts"
import { forecastSearch } from "./forecast/search.ts"
import { prefetchOverview } from "./overview/prefetchOverview.ts"
import { page, searchPage, workspace } from "./parentRoutes.tsx"
import { chainQueries } from "./tasks/chains/chainKind.ts"
import { cronQueries } from "./tasks/cron/cronKind.ts"
import { delayedQueries } from "./tasks/delayed/delayedQueries.ts"
import { copySearch, delayedSearch, repeatingSearch, runSearch } from "./tasks/search.ts"

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  loader: ({ params: { workspaceId } }) => prefetchOverview(workspaceId),
  component: lazyPage(() => import("./overview/OverviewPage.tsx"), "OverviewPage")
})

const cron = createRoute({
  getParentRoute: () => workspace,
  path: "/cron",
  validateSearch: repeatingSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => prefetchList(cronQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/cron/CronListPage.tsx"), "CronListPage")
})

const delayed = createRoute({
  getParentRoute: () => workspace,
  path: "/delayed",
  validateSearch: delayedSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) =>
    prefetchList(delayedQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/delayed/DelayedListPage.tsx"), "DelayedListPage")
})

const chains = createRoute({
  getParentRoute: () => workspace,
  path: "/chains",
  validateSearch: repeatingSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => prefetchList(chainQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/chains/ChainListPage.tsx"), "ChainListPage")
})

const executions = createRoute({
  getParentRoute: () => workspace,
  path: "/executions",
  validateSearch: executionSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) =>
    prefetchList(executionQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./executions/ExecutionsPage.tsx"), "ExecutionsPage")
})

const scheduledExecutions = createRoute({
  getParentRoute: () => workspace,
  path: "/executions/scheduled",
  loader: ({ params: { workspaceId } }) => prefetchList(executionQueries.scheduled(workspaceId)),
  component: lazyPage(() => import("./executions/ScheduledPage.tsx"), "ScheduledPage")
})

export const taskRoutes = [
  overview,
  searchPage(
    "/forecast",
    forecastSearch,
    lazyPage(() => import("./forecast/ForecastPage.tsx"), "ForecastPage")
  ),
  cron,
  searchPage(
    "/cron/new",
    copySearch,
    lazyPage(() => import("./tasks/cron/cronFormPages.tsx"), "NewCronPage")
  ),
  page(
    "/cron/$taskId",
    lazyPage(() => import("./tasks/cron/CronPage.tsx"), "CronPage")
  ),
  page(
    "/cron/$taskId/edit",
    lazyPage(() => import("./tasks/cron/cronFormPages.tsx"), "EditCronPage")
  ),
  delayed,
  searchPage(
    "/delayed/new",
    copySearch,
    lazyPage(() => import("./tasks/delayed/delayedFormPages.tsx"), "NewDelayedPage")
  ),
  page(
    "/delayed/$taskId",
    lazyPage(() => import("./tasks/delayed/DelayedPage.tsx"), "DelayedPage")
  ),
  page(
    "/delayed/$taskId/edit",
    lazyPage(() => import("./tasks/delayed/delayedFormPages.tsx"), "EditDelayedPage")
  ),
  chains,
  searchPage(
    "/chains/new",
    copySearch,
    lazyPage(() => import("./tasks/chains/chainFormPages.tsx"), "NewChainPage")
  ),
  searchPage(
    "/chains/$taskId",
    runSearch,
    lazyPage(() => import("./tasks/chains/ChainPage.tsx"), "ChainPage")
  ),
  page(
    "/chains/$taskId/edit",
    lazyPage(() => import("./tasks/chains/chainFormPages.tsx"), "EditChainPage")
  ),
  executions,
  scheduledExecutions,
  page(
    "/executions/$executionId",
    lazyPage(() => import("./executions/ExecutionPage.tsx"), "ExecutionPage")
  )
] as const
