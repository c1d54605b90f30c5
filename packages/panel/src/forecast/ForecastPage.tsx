import type { Forecast } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { CalendarClock, Plus } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { RadioButtons } from "../ui/forms/Field.tsx"
import { FigureCard, FigureCards } from "../ui/layout/FigureCard.tsx"
import { Card, EmptyState, Page, Section } from "../ui/layout/Page.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { RoleGate } from "../ui/role.tsx"
import { formatCount, formatShortDateTime } from "../ui/values/format.ts"
import { EmptyValue } from "../ui/values/Time.tsx"
import { BusiestMinutes } from "./BusiestMinutes.tsx"
import { ForecastChart } from "./ForecastChart.tsx"
import { JitterEffect } from "./JitterEffect.tsx"
import { forecastOptions } from "./queries.ts"
import { forecastSearch, type ForecastSpan, forecastSpans } from "./search.ts"
import { UpcomingList } from "./UpcomingList.tsx"

export const ForecastPage = () => {
  const { workspaceId } = useWorkspace()
  const { filter, search } = useFilters(forecastSearch)
  const { span = "day" } = search
  const forecast = useQuery(forecastOptions(workspaceId, span === "week" ? 7 : 1))
  return (
    <Page
      title="Forecast"
      description="When runs will start, where they collide and how jitter would spread them out."
      actions={
        <RadioButtons<ForecastSpan>
          label="Period"
          value={span}
          options={forecastSpans}
          onChange={(next) => filter({ span: next })}
        />
      }
    >
      {forecast.data?.runs === 0 ? (
        <NoRuns span={span} />
      ) : (
        <div className="flex flex-col gap-8">
          <Card className="px-4 py-5 sm:px-5">
            <Loaded query={forecast} height="h-46">
              {(data) => <ForecastChart forecast={data} span={span} />}
            </Loaded>
          </Card>
          <ForecastFigures forecast={forecast.data} span={span} />
          <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
            <Section title="Busiest minutes">
              <Loaded query={forecast} height="h-40">
                {({ busiest }) => <BusiestMinutes of={busiest} />}
              </Loaded>
            </Section>
            <aside className="flex min-w-0 flex-col gap-8">
              <Section title="Effect of jitter">
                <Loaded query={forecast} height="h-40">
                  {({ spread }) => <JitterEffect of={spread} />}
                </Loaded>
              </Section>
              <Section title="Next runs">
                <UpcomingList />
              </Section>
            </aside>
          </div>
        </div>
      )}
    </Page>
  )
}

const spanNames: Readonly<Record<ForecastSpan, string>> = { day: "24 hours", week: "7 days" }

const ForecastFigures = ({
  forecast,
  span
}: {
  readonly forecast: Forecast | undefined
  readonly span: ForecastSpan
}) => {
  const fullest = forecast?.busiest[0]
  return (
    <FigureCards>
      <FigureCard
        name="Runs"
        note={`that start in the next ${spanNames[span]}`}
        value={forecast && formatCount(forecast.runs)}
      />
      <FigureCard
        name="Busiest minute"
        note={
          fullest === undefined
            ? "no minute has more than one run"
            : `runs that start on ${formatShortDateTime(fullest.at)}`
        }
        value={forecast && (fullest === undefined ? <EmptyValue /> : formatCount(fullest.runs))}
      />
    </FigureCards>
  )
}

const NoRuns = ({ span }: { readonly span: ForecastSpan }) => {
  const { workspaceId } = useWorkspace()
  return (
    <EmptyState
      title={`No runs in the next ${spanNames[span]}`}
      icon={<CalendarClock />}
      action={
        <RoleGate role="editor">
          <ButtonLink
            to="/w/$workspaceId/cron/new"
            params={{ workspaceId }}
            look="main"
            icon={<Plus />}
          >
            New cron task
          </ButtonLink>
        </RoleGate>
      }
    >
      The forecast shows the upcoming runs of cron tasks, delayed tasks and chains with a schedule.
    </EmptyState>
  )
}
