"""`amelia resume RUN`: a run goes on from where it stands, with more to spend if a person says so."""

import click

from amelia.app.people import ask
from amelia.app.runs import plan_has_changed
from amelia.app.walls import wall_gaps
from amelia.model.agents import Allowance
from amelia.model.delivery import Finish, FinishChosen
from amelia.model.events import BudgetChanged
from amelia.model.policy import Budget
from amelia.record.runs import started
from amelia.show.cli.amounts import MONEY, TOKENS
from amelia.show.cli.finishing import finish_options, point_on, refuse_record_alone
from amelia.show.cli.goals import may_ask, settle
from amelia.show.cli.naming import named_run
from amelia.system.wall import find_kernel


@click.command("resume")
@click.argument("run")
@click.option("--max-cost", type=MONEY, help="What the whole run may cost, in US dollars.")
@click.option("--max-tokens", type=TOKENS, help="Tokens the whole run may use where their cost is not known.")
@click.option("--max-unit-cost", type=MONEY, help="What a unit may cost.")
@click.option("--max-unit-tokens", type=TOKENS, help="Tokens a unit may use where their cost is not known.")
@finish_options
@click.option("--json", "as_json", is_flag=True, help="Print one event per line as JSON.")
@click.option("--no-input", is_flag=True, help="Never ask anything.")
def command(  # noqa: PLR0913 - one for every option
    *,
    run: str,
    max_cost: float | None,
    max_tokens: int | None,
    max_unit_cost: float | None,
    max_unit_tokens: int | None,
    finish: Finish | None,
    without_record: bool,
    as_json: bool,
    no_input: bool,
) -> None:
    """Go on with RUN from where it stands: after a pause, a crash, or what a person did about it.

    With --max-… the run gets another budget: what it may use in all, from its beginning.
    Follows the run if another process drives it. A plan that waits for approval is shown, and on a terminal
    you are asked. Exit codes are those of `amelia run`.
    """
    refuse_record_alone(finish, without_record=without_record)
    directory = named_run(run)
    said = Budget(
        unit=Allowance(cost=max_unit_cost, tokens=max_unit_tokens),
        run=Allowance(cost=max_cost, tokens=max_tokens),
    )
    if said != Budget():
        ask(directory, BudgetChanged(said))
    if finish is not None:
        ask(directory, FinishChosen(finish, without_record))
    found = started(directory)
    if found is not None and plan_has_changed(found[1]):
        click.echo(
            f"note: {found[1].plan_path} is not what it was when the run started; what counts is the "
            f"plan it started with ({directory.plan})",
            err=True,
        )
    for gap in wall_gaps(found[1].wall, find_kernel()) if found is not None else ():
        click.echo(f"wall: {gap}", err=True)
    is_asking = may_ask(no_input=no_input, as_json=as_json)
    code = settle(directory, is_asking=is_asking, as_json=as_json)
    raise SystemExit(point_on(directory, code, as_json=as_json))
