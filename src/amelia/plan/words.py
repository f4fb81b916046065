"""The words plans are written with, in the larger languages of the world.

Every word stands in its case-folded form. Adding a language means adding words here and nowhere else.
"""

import re
from collections.abc import Iterable


def alternatives(words: Iterable[str]) -> str:
    """Returns a pattern that matches any of some words, the longest first."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)


TASKS = frozenset(
    """
    task todo ticket workitem
    tarea tarefa tâche tache compito attività aufgabe taak uppgift opgave oppgave tehtävä verkefni
    задача задание завдання задачка zadanie zadatak úkol úloha naloga zadatak feladat sarcină sarcina
    görev εργασία užduotis uzdevums ülesanne detyrë
    任务 任務 タスク 作業 작업 과제 태스크 할일
    कार्य টাস্ক কাজ ਕੰਮ કાર્ય పని பணி ಕಾರ್ಯ ടാസ്ക്
    مهمة المهمة وظیفه وظيفة کام tugas gawain kazi งาน misi משימה
    """.split()
) | frozenset({"nhiệm vụ", "công việc", "work item", "to-do", "task group"})

SUBTASKS = frozenset(
    """
    subtask sub-task subtarea subtarefa sous-tâche unteraufgabe teilaufgabe подзадача підзавдання podzadanie
    子任务 子任務 サブタスク 하위작업 하위 sottoattività subtaak
    """.split()
) | frozenset({"하위 작업", "sub task"})

STEPS = frozenset(
    """
    step paso passo étape etape schritt stap steg trin шаг крок krok korak adım βήμα lépés pas bước langkah
    步骤 步驟 ステップ 手順 단계 चरण خطوة ขั้นตอน hatua
    """.split()
)

PHASES = frozenset(
    """
    phase stage wave sprint iteration part batch track stream section group block chunk round week day epic
    fase etapa estágio parte fáze faza abschnitt teil этап фаза спринт часть неделя день część aşama φάση
    fázis osa del giai
    阶段 階段 フェーズ 段階 페이즈 चरण مرحلة المرحلة مرحله ระยะ tahap
    """.split()
) | frozenset({"giai đoạn", "work package", "user story"})

MILESTONES = frozenset(
    "milestone meilenstein hito marco jalon веха kilometre 里程碑 マイルストーン 마일스톤".split()
)

STORIES = frozenset(
    "story feature issue pr commit change slice increment deliverable item fix bug".split()
) | frozenset({"user story", "pull request", "change request", "action item"})

# Numbers that authors write out: `Task One`, `Tarea dos`, `Задача три`.
NUMBERS = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty
    uno dos tres cuatro cinco seis siete ocho nueve diez um dois três quatro sete oito nove dez
    un deux trois quatre cinq sept huit neuf dix due tre quattro cinque sei sette otto dieci
    eins zwei drei vier fünf sechs sieben acht neun zehn een twee drie vijf zes zeven negen tien
    ett två fyra fem sex sju åtta nio tio en fire seks syv otte åtte yksi kaksi kolme neljä viisi
    один два три четыре пять шесть семь восемь девять десять чотири шість сім вісім
    jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedna dvě tři čtyři pět
    bir iki üç dört beş altı yedi sekiz dokuz ένα δύο τρία τέσσερα πέντε
    satu dua tiga empat lima enam tujuh một hai ba bốn năm
    하나 둘 셋 넷 다섯 एक दो तीन चार पाँच واحد اثنان ثلاثة أربعة خمسة
    """.split()
)

# A heading "Task 3 Context" speaks about task 3; it is not task 3 a second time.
MENTIONS = frozenset(
    """
    context overview summary notes note details detail background status results result review report
    completion complete completed checklist deliverables dependencies requirements acceptance verification
    success goals timeline rationale history recap outcome outcomes findings discussion references
    appendix brief prompt
    description breakdown list index table map graph order sequence matrix template format structure
    概述 概览 总结 背景 说明 概要 まとめ 背景 개요 요약
    """.split()
)

# A heading "Task Model" or "Task Dependencies" speaks about tasks; it is none.
ABOUT = MENTIONS | frozenset(
    """
    analysis assignment assignments board dependency distribution estimate estimates estimation execution
    file files goal grouping groups guidelines input inputs legend management manager mapping model
    naming numbering objective ordering output outputs ownership planning priorities prioritization priority
    purpose queue schedule scope sizing steps strategy tracker tracking types workflow
    """.split()
)

# What numbered headings are called when they are chapters of a document, not work.
CHAPTERS = frozenset(
    """
    overview introduction background context goal goals objective objectives scope motivation problem summary
    architecture design requirements assumptions constraints risks risk glossary references appendix
    conclusion
    notes timeline schedule metrics success dependencies prerequisites
    decisions questions stakeholders deliverables resources rollback
    purpose approach solution analysis findings recommendations status current existing
    non-goals executive table contents changelog history faq
    """.split()
)

# Sections after the work, or beside it, whose boxes and headings are not tasks.
ASIDES = frozenset(
    """
    summary overview notes note verification validation checklist acceptance criteria success prerequisites
    dependencies references risks questions appendix glossary testing rollback review self-review decisions
    legend definition metrics changelog history background context goals requirements progress
    done quick quickstart installation usage
    """.split()
)

# Headings of nothing but these words announce work: "The plan", "Next steps", "Implementation", "What to do".
WORK = (
    frozenset(
        """
        plan plans implementation roadmap steps todo todos work what to do next the of action actions order
        proposed our step-by-step
        pasos passos étapes schritte umsetzung arbeitsplan шаги план реализация plano implementación
        计划 計画 步骤 步驟 実装 实现 実装計画 实施计划 手順 단계 계획 구현
        """.split()
    )
    | STEPS
)

# Sections that hold work nobody is asked to do now.
DEFERRED = frozenset("future deferred later postponed parking someday outlook 延期 将来".split())

# Sections that hold work that is finished.
FINISHED = frozenset("completed finished done archive archived 已完成 完了 завершено".split())

# What the boxes of a legend say.
STATES = frozenset(
    {
        *(
            "pending",
            "todo",
            "to do",
            "open",
            "not started",
            "in progress",
            "doing",
            "wip",
            "done",
            "completed",
        ),
        *("complete", "blocked", "skipped", "cancelled", "deferred", "optional", "finished", "partial"),
    }
)

NOTHING = frozenset(
    """
    none n/a na no nothing nil null - – — ninguna nenhuma aucune keine нет 无 なし 없음 []
    """.split()
)

# What authors call the fields of a task, by the name the reader gives them.
FIELDS = {
    "type": "type|kind|task type|typ|类型|種類|종류|тип|tipo",
    "needs": "depends on|depends|depends_on|dependencies|dependency|blocked by"
    "|依赖|依賴|前置任务|依存|依存関係|의존성|зависимости|зависит от|depende de|dependencias"
    "|dependências|dépendances|dépend de|abhängigkeiten|hängt ab von|abhängig von",
    "after": "prerequisites|prerequisite|requires|after",
    "phase": "phase",
    "files": "files|file|files to change|files touched|files affected|affected files|files_touched"
    "|files_modified|target files|文件|ファイル|파일|файлы|файл|archivos|arquivos|fichiers|dateien",
    "create": "create|creates|created|new|new file|new files|files to create|files_to_create"
    "|files created|crear|criar|créer|erstellen|создать|创建|新建|新規|新規作成|作成|생성",
    "modify": "modify|modifies|modified|edit|update|delete|remove|change|files to modify"
    "|files_to_modify|files modified|modified files"
    "|modificar|modifier|ändern|изменить|修改|変更|修正|수정|删除",
    "test": "test|tests|test files|test_files|test file|测试|テスト|테스트",
    "criteria": "acceptance criteria|acceptance|criteria|success criteria|definition of done|done when"
    "|验收标准|受け入れ基準|受入基準|완료 조건|критерии приёмки|критерии приемки|criterios de aceptación"
    "|critérios de aceitação|critères d'acceptation|akzeptanzkriterien",
    "story": "user story|story",
    "priority": "priority|优先级|優先度|우선순위|приоритет|prioridad|prioridade|priorité|priorität",
    "milestone": "milestone|里程碑|マイルストーン|마일스톤|веха|hito|marco|jalon|meilenstein",
    "status": "status|state|状态|ステータス|상태|статус|estado|statut",
    "waiver": "tdd waiver",
}

# Only what means exactly this: "Type: Feature" is the word of a tracker, not a promise of tests before it.
TYPES = {
    "test": "test tests testing 测试 テスト 테스트 prueba teste тест тесты",
    "impl": "impl implement implementation 实现 実装 구현 implementación implementação implémentation"
    " implementierung реализация",
    "refactor": "refactor refactoring 重构 リファクタリング refactorización refatoração рефакторинг",
    "docs": "docs doc documentation 文档 ドキュメント 문서 documentación documentação dokumentation"
    " документация",
    "chore": "chore",
}

PRIORITIES = {
    "critical": "critical p0 blocker urgent highest критично критический 紧急 緊急 crítica crítico"
    " kritisch critique",
    "high": "high p1 must высокий высокая 高 高い 높음 alta alto haute hoch",
    "medium": "medium normal p2 should средний средняя 中 보통 media média moyenne mittel",
    "low": "low p3 p4 could nice низкий низкая 低 낮음 baixa baja basse niedrig",
}
