import type { Forecast } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { CalendarClock } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { Choice } from "../ui/forms/Field.tsx"
import { Figure, Figures } from "../ui/layout/Figure.tsx"
import { Card, Empty, Page, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Only } from "../ui/role.tsx"
import { count, shortDateTime } from "../ui/values/format.ts"
import { None } from "../ui/values/Time.tsx"
import { Busiest } from "./Busiest.tsx"
import { Chart } from "./Chart.tsx"
import { forecastOptions, upcomingOptions } from "./queries.ts"
import { type Span, spans } from "./search.ts"
import { Spread } from "./Spread.tsx"
import { UpcomingList } from "./UpcomingList.tsx"

export const ForecastPage = () => {
  const { workspaceId } = useWorkspace()
  const { span = "day" } = useSearch({ from: "/inside/w/$workspaceId/forecast" })
  const navigate = useNavigate({ from: "/w/$workspaceId/forecast" })
  const { data, error, refetch } = useQuery(forecastOptions(workspaceId, span === "week" ? 7 : 1))
  return (
    <Page
      title="Coming up"
      description="When runs begin, where they collide, and how far jitter would spread them."
      actions={
        <Choice<Span>
          label="Time"
          value={span}
          options={spans}
          onChange={(next) =>
            void navigate({ search: next === "week" ? { span: next } : {}, replace: true })
          }
        />
      }
    >
      {error !== null ? (
        <Problem error={error} retry={refetch} />
      ) : data?.runs === 0 ? (
        <Nothing span={span} />
      ) : (
        <div className="flex flex-col gap-8">
          <Card className="px-4 py-5 sm:px-5">
            {data === undefined ? (
              <Skeleton className="h-46" />
            ) : (
              <Chart forecast={data} span={span} />
            )}
          </Card>
          <ForecastFigures forecast={data} />
          <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
            <Section title="Busiest minutes">
              {data === undefined ? <Skeleton className="h-40" /> : <Busiest of={data.busiest} />}
            </Section>
            <aside className="flex min-w-0 flex-col gap-8">
              <Section title="What jitter would do">
                {data === undefined ? <Skeleton className="h-40" /> : <Spread of={data.spread} />}
              </Section>
              <Section title="Next runs">
                <Next />
              </Section>
            </aside>
          </div>
        </div>
      )}
    </Page>
  )
}

const ForecastFigures = ({ forecast }: { readonly forecast: Forecast | undefined }) => {
  const fullest = forecast?.busiest[0]
  const perSecond = (seconds: number) => {
    const found = forecast?.spread.find((one) => one.seconds === seconds)
    return found && count(found.most_per_second)
  }
  return (
    <Figures>
      <Figure name="Runs" note="in total" value={forecast && count(forecast.runs)} />
      <Figure
        name="Busiest minute"
        note={fullest === undefined ? "no minute has several" : shortDateTime(fullest.at)}
        value={forecast && (fullest === undefined ? <None /> : count(fullest.runs))}
      />
      <Figure name="Most in one second" note="as scheduled" value={perSecond(0)} />
      <Figure name="Most in one second" note="with a minute of jitter" value={perSecond(60)} />
    </Figures>
  )
}

const Next = () => {
  const { workspaceId } = useWorkspace()
  const { data, error } = useQuery(upcomingOptions(workspaceId))
  if (error !== null) return <Problem error={error} />
  return data === undefined ? <Skeleton className="h-40" /> : <UpcomingList runs={data} />
}

const Nothing = ({ span }: { readonly span: Span }) => {
  const { workspaceId } = useWorkspace()
  return (
    <Empty
      title={`Nothing runs in the next ${span === "week" ? "7 days" : "24 hours"}`}
      icon={<CalendarClock className="size-5" />}
      action={
        <Only role="editor">
          <ButtonLink to="/w/$workspaceId/cron/new" params={{ workspaceId }} look="main">
            New cron task
          </ButtonLink>
        </Only>
      }
    >
      Cron tasks, chains with a schedule and delayed tasks appear here before they run.
    </Empty>
  )
}
