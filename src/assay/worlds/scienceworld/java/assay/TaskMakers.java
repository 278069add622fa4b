package assay;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import scala.util.Random$;
import scienceworld.tasks.TaskMaker1;
import scienceworld.tasks.specifictasks.*;
import util.UniqueIdentifier$;

/**
 * The simulator's list of tasks, built once; a load builds the one family again that it plays.
 *
 * <p>The original builds all thirty tasks, with the objects of each of their 7,207 variations, at
 * every load. An episode moves and changes the objects of its own family only. So that family is
 * built anew, with the object numbers and the random numbers that it has in the whole list, and the
 * next object gets the number that it would have had: what is loaded is what the original loads.
 * How many objects and random numbers a family takes does not depend on the seed, which is the
 * number of the variation (0 to 1,385: all were tried).
 *
 * <p>Compiled with: javac --release 8 -g:none -cp scienceworld.jar assay/TaskMakers.java
 */
public final class TaskMakers {
  /** In the order of the original: object numbers and random numbers depend on it. */
  private static final List<Consumer<TaskMaker1>> FAMILIES =
      Arrays.asList(
          TaskChangeOfState$.MODULE$::registerTasks,
          TaskElectricCircuit$.MODULE$::registerTasks,
          TaskElectricalConductivity$.MODULE$::registerTasks,
          TaskElectricalConductivity2$.MODULE$::registerTasks,
          TaskFindLivingNonLiving$.MODULE$::registerTasks,
          TaskGrowPlant$.MODULE$::registerTasks,
          TaskChemistryMix$.MODULE$::registerTasks,
          TaskChemistryMixPaint$.MODULE$::registerTasks,
          TaskLifeSpan$.MODULE$::registerTasks,
          TaskIdentifyLifeStages1$.MODULE$::registerTasks,
          TaskIdentifyLifeStages2$.MODULE$::registerTasks,
          TaskInclinedPlane1$.MODULE$::registerTasks,
          TaskInclinedPlane2$.MODULE$::registerTasks,
          TaskInclinedPlane3$.MODULE$::registerTasks,
          TaskMendelianGenetics1$.MODULE$::registerTasks,
          TaskMendelianGenetics2$.MODULE$::registerTasks,
          TaskUseInstrumentThermometer$.MODULE$::registerTasks,
          TaskUseInstrumentThermometer2$.MODULE$::registerTasks,
          TaskUseInstrumentThermometer3$.MODULE$::registerTasks);

  private static final Map<String, Integer> FAMILY_OF = new HashMap<>();

  /** The number of the last object before a family is built. */
  private static final long[] LAST_OBJECT = new long[FAMILIES.size()];

  /** Random numbers that are drawn before a family is built. */
  private static final int[] DRAWS = new int[FAMILIES.size()];

  /** The step of `java.util.Random` from one state to the next, as its documentation has it. */
  private static final long MULTIPLIER = 0x5DEECE66DL;

  private static final long ADDEND = 0xBL;
  private static final long MASK = (1L << 48) - 1;

  private static TaskMaker1 maker = null;
  private static long lastObject = 0;

  private TaskMakers() {}

  /** The list of tasks at the beginning of a load, with the task's own family as new. */
  public static synchronized TaskMaker1 forTask(String task) {
    if (maker == null) {
      maker = new TaskMaker1();
      lastObject = UniqueIdentifier$.MODULE$.count();
      return maker;
    }
    Integer family = FAMILY_OF.get(task);
    if (family != null) {
      UniqueIdentifier$.MODULE$.count_$eq(LAST_OBJECT[family]);
      for (int draw = 0; draw < DRAWS[family]; draw++) {
        Random$.MODULE$.nextInt();
      }
      FAMILIES.get(family).accept(maker);
    }
    UniqueIdentifier$.MODULE$.count_$eq(lastObject);
    return maker;
  }

  /** What the original's constructor does: every family in its turn. */
  public static synchronized void register(TaskMaker1 list) {
    long state = rngState();
    int draws = 0;
    for (int family = 0; family < FAMILIES.size(); family++) {
      LAST_OBJECT[family] = UniqueIdentifier$.MODULE$.count();
      DRAWS[family] = draws;
      FAMILIES.get(family).accept(list);
      for (long after = rngState(); state != after; draws++) {
        state = state * MULTIPLIER + ADDEND & MASK;
      }
      for (String task : list.getTaskList()) {
        FAMILY_OF.putIfAbsent(task, family);
      }
    }
  }

  /** The state of the simulator's generator, which only its serial form shows: its last number. */
  private static long rngState() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
      stream.writeObject(Random$.MODULE$.self());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    byte[] content = bytes.toByteArray();
    return ByteBuffer.wrap(content).getLong(content.length - 1 - Long.BYTES);
  }
}
